/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's sessions. A frame holds one message: session id (u16), type (u8), body. The id is the nonce of the side that started the
 * session | the nonce of the other one << 8.
 */
#ifndef TVM_RUNTIME_CRT_RPC_COMMON_SESSION_H_
#define TVM_RUNTIME_CRT_RPC_COMMON_SESSION_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/rpc_common/frame_buffer.h>
#include <tvm/runtime/crt/rpc_common/framing.h>
#include <tvm/runtime/crt/rpc_common/write_stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes before the body of a message. */
#define TVM_SESSION_HEADER_BYTES 3u

/* The version of this protocol, the body of the first two messages. */
#define TVM_SESSION_VERSION 1u

typedef enum {
  kTVMSessionStartSessionInit = 0x00,
  kTVMSessionStartSessionReply = 0x01,
  kTVMSessionTerminateSession = 0x02,
  kTVMSessionLog = 0x03,   /* text without its terminating zero */
  kTVMSessionNormal = 0x10 /* an RPC packet */
} TVMSessionMessageType;

typedef enum {
  kTVMSessionReset = 0,
  kTVMSessionNoSessionEstablished = 1,
  kTVMSessionStartSessionSent = 2,
  kTVMSessionSessionEstablished = 3
} TVMSessionState;

/* Called with each message. Of kTVMSessionNormal and kTVMSessionLog the buffer holds the body, and nothing is received until
 * TVMSession_ClearReceiveBuffer. kTVMSessionStartSessionReply says that a session is established, kTVMSessionTerminateSession that it
 * ended; the buffer is NULL then. */
typedef void (*TVMSessionMessageReceivedFunc)(void* context, TVMSessionMessageType message_type,
                                              TVMFrameBuffer* buffer);

typedef struct {
  TVMWriteStream receiver; /* takes the payloads of frames */
  TVMFramer* framer;
  TVMFrameBuffer* receive_buffer;
  TVMSessionMessageReceivedFunc message_received_func;
  void* message_received_func_context;
  TVMSessionState state;
  uint16_t session_id;
  uint8_t local_nonce;
  bool receive_buffer_has_complete_message;
} TVMSession;

/* A session that sends through framer and keeps the message that is being received in receive_buffer, with its header. */
void TVMSession_Init(TVMSession* session, TVMFramer* framer, TVMFrameBuffer* receive_buffer,
                     TVMSessionMessageReceivedFunc message_received_func, void* context);

/* Keeps a nonce, from which others are made, and tells the other side that no session is left. Call it first. */
tvm_crt_error_t TVMSession_Initialize(TVMSession* session, uint8_t initial_session_nonce);

/* Asks the other side for a session. */
tvm_crt_error_t TVMSession_StartSession(TVMSession* session);

/* Ends the session and tells the other side. */
tvm_crt_error_t TVMSession_TerminateSession(TVMSession* session);

/* Sends a message. kTvmErrorSessionInvalidState without a session, unless it is kTVMSessionLog. */
tvm_crt_error_t TVMSession_SendMessage(TVMSession* session, TVMSessionMessageType message_type,
                                       const uint8_t* message_data, size_t message_size_bytes);

/* The same in pieces: how long the body is, the body, the end. */
tvm_crt_error_t TVMSession_StartMessage(TVMSession* session, TVMSessionMessageType message_type,
                                        size_t message_size_bytes);
tvm_crt_error_t TVMSession_SendBodyChunk(TVMSession* session, const uint8_t* chunk,
                                         size_t chunk_size_bytes);
tvm_crt_error_t TVMSession_FinishMessage(TVMSession* session);

bool TVMSession_IsEstablished(const TVMSession* session);

/* The stream that a TVMUnframer hands payloads to. Its Write returns kTvmErrorSessionReceiveBufferBusy, negated, while a message waits
 * to be cleared, and kTvmErrorSessionReceiveBufferShortWrite, negated, if a message does not fit. */
TVMWriteStream* TVMSession_Receiver(TVMSession* session);

/* Makes room for the next message. */
void TVMSession_ClearReceiveBuffer(TVMSession* session);

#ifdef __cplusplus
}

/* microTVM's class on top of the C above. */
namespace tvm {
namespace runtime {
namespace micro_rpc {

enum class MessageType : uint8_t {
  kStartSessionInit = kTVMSessionStartSessionInit,
  kStartSessionReply = kTVMSessionStartSessionReply,
  kTerminateSession = kTVMSessionTerminateSession,
  kLog = kTVMSessionLog,
  kNormal = kTVMSessionNormal,
};

typedef struct SessionHeader {
  uint16_t session_id;
  MessageType message_type;
} __attribute__((packed)) SessionHeader;

class Session {
 public:
  typedef void (*MessageReceivedFunc)(void* context, MessageType message_type, FrameBuffer* buf);

  static constexpr const uint8_t kInvalidNonce = 0;
  static constexpr const uint8_t kVersion = TVM_SESSION_VERSION;

  /* receive_buffer may be null if nothing is received. */
  Session(Framer* framer, FrameBuffer* receive_buffer, MessageReceivedFunc message_received_func,
          void* message_received_func_context)
      : receiver_{&session_},
        receive_buffer_{receive_buffer},
        message_received_func_{message_received_func},
        message_received_func_context_{message_received_func_context} {
    TVMSession_Init(&session_, framer->c(), receive_buffer == nullptr ? nullptr : receive_buffer->c(), Received, this);
    if (receive_buffer != nullptr) {
      receive_buffer->Clear();
    }
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  tvm_crt_error_t Initialize(uint8_t initial_session_nonce) {
    return TVMSession_Initialize(&session_, initial_session_nonce);
  }

  tvm_crt_error_t TerminateSession() { return TVMSession_TerminateSession(&session_); }

  tvm_crt_error_t StartSession() { return TVMSession_StartSession(&session_); }

  WriteStream* Receiver() { return &receiver_; }

  tvm_crt_error_t SendMessage(MessageType message_type, const uint8_t* message_data, size_t message_size_bytes) {
    return TVMSession_SendMessage(&session_, C(message_type), message_data, message_size_bytes);
  }

  tvm_crt_error_t StartMessage(MessageType message_type, size_t message_size_bytes) {
    return TVMSession_StartMessage(&session_, C(message_type), message_size_bytes);
  }

  tvm_crt_error_t SendBodyChunk(const uint8_t* chunk_data, size_t chunk_size_bytes) {
    return TVMSession_SendBodyChunk(&session_, chunk_data, chunk_size_bytes);
  }

  tvm_crt_error_t FinishMessage() { return TVMSession_FinishMessage(&session_); }

  bool IsEstablished() const { return TVMSession_IsEstablished(&session_); }

  void ClearReceiveBuffer() { TVMSession_ClearReceiveBuffer(&session_); }

 private:
  class SessionReceiver : public WriteStream {
   public:
    explicit SessionReceiver(TVMSession* session) : session_{session} {}

    void operator delete(void*) noexcept {} /* It is a member, never on a heap. */

    ssize_t Write(const uint8_t* data, size_t data_size_bytes) override {
      TVMWriteStream* stream = TVMSession_Receiver(session_);
      return stream->Write(stream, data, data_size_bytes);
    }

    void PacketDone(bool is_valid) override {
      TVMWriteStream* stream = TVMSession_Receiver(session_);
      stream->PacketDone(stream, is_valid);
    }

   private:
    TVMSession* session_;
  };

  static TVMSessionMessageType C(MessageType message_type) { return static_cast<TVMSessionMessageType>(message_type); }

  static void Received(void* context, TVMSessionMessageType message_type, TVMFrameBuffer* buffer) {
    Session* self = static_cast<Session*>(context);
    self->message_received_func_(self->message_received_func_context_, static_cast<MessageType>(message_type),
                                 buffer == nullptr ? nullptr : self->receive_buffer_);
  }

  TVMSession session_;
  SessionReceiver receiver_;
  FrameBuffer* receive_buffer_;
  MessageReceivedFunc message_received_func_;
  void* message_received_func_context_;
};

}  // namespace micro_rpc
}  // namespace runtime
}  // namespace tvm
#endif

#endif /* TVM_RUNTIME_CRT_RPC_COMMON_SESSION_H_ */
