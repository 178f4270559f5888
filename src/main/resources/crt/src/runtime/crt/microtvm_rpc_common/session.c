/* SPDX-License-Identifier: Apache-2.0 */
#include <tvm/runtime/crt/rpc_common/session.h>

#define NO_NONCE 0u
#define NO_SESSION 0u

static uint8_t initiator_nonce(uint16_t session_id) {
  return (uint8_t)(session_id & 0xffu);
}

static uint8_t responder_nonce(uint16_t session_id) {
  return (uint8_t)(session_id >> 8);
}

static uint16_t session_id_of(uint8_t initiator, uint8_t responder) {
  return (uint16_t)(initiator | (uint32_t)responder << 8);
}

/* microTVM's step from one nonce to the next; not a rotation. */
static void regenerate_nonce(TVMSession* session) {
  uint32_t nonce = session->local_nonce;
  session->local_nonce = (uint8_t)(((nonce << 5 | nonce >> 5) + 1u) & 0xffu);
  if (session->local_nonce == NO_NONCE) {
    session->local_nonce = 1;
  }
}

static tvm_crt_error_t start_message(TVMSession* session, uint16_t session_id,
                                     TVMSessionMessageType type, size_t body_size) {
  const uint8_t header[TVM_SESSION_HEADER_BYTES] = {(uint8_t)(session_id & 0xffu),
                                                    (uint8_t)(session_id >> 8), (uint8_t)type};
  tvm_crt_error_t error = TVMFramer_StartPacket(session->framer, sizeof(header) + body_size);
  if (error != kTvmErrorNoError) {
    return error;
  }
  return TVMFramer_WritePayloadChunk(session->framer, header, sizeof(header));
}

static tvm_crt_error_t send(TVMSession* session, uint16_t session_id, TVMSessionMessageType type,
                            const uint8_t* body, size_t body_size) {
  tvm_crt_error_t error = start_message(session, session_id, type, body_size);
  if (error == kTvmErrorNoError && body_size > 0u) {
    error = TVMFramer_WritePayloadChunk(session->framer, body, body_size);
  }
  return error == kTvmErrorNoError ? TVMFramer_FinishPacket(session->framer) : error;
}

static tvm_crt_error_t send_version(TVMSession* session, TVMSessionMessageType type) {
  static const uint8_t version = TVM_SESSION_VERSION;
  return send(session, session->session_id, type, &version, sizeof(version));
}

static void report(TVMSession* session, TVMSessionMessageType type, TVMFrameBuffer* buffer) {
  session->message_received_func(session->message_received_func_context, type, buffer);
}

static void establish(TVMSession* session, uint16_t session_id) {
  session->session_id = session_id;
  session->state = kTVMSessionSessionEstablished;
}

/* Accepts the session that the other side asks for. */
static void answer_init(TVMSession* session, uint8_t initiator) {
  regenerate_nonce(session);
  establish(session, session_id_of(initiator, session->local_nonce));
  if (send_version(session, kTVMSessionStartSessionReply) == kTvmErrorNoError) {
    report(session, kTVMSessionStartSessionReply, NULL);
  } else {
    session->state = kTVMSessionNoSessionEstablished;
  }
}

/* Reads the version from the body; 0, which is none, if there is no body. */
static uint8_t read_version(TVMSession* session) {
  uint8_t version = 0;
  (void)TVMFrameBuffer_Read(session->receive_buffer, &version, sizeof(version));
  return version;
}

static void process_init(TVMSession* session, uint16_t session_id) {
  uint8_t initiator = initiator_nonce(session_id);
  bool has_body = TVMFrameBuffer_ReadAvailable(session->receive_buffer) > 0u;
  uint8_t version = read_version(session);
  if (initiator == NO_NONCE || !has_body) {
    return;
  }
  if (session->state != kTVMSessionStartSessionSent) {
    answer_init(session, initiator);
  } else if (initiator == session->local_nonce) {
    (void)TVMSession_StartSession(session);
  } else if (initiator < session->local_nonce && version == TVM_SESSION_VERSION) {
    answer_init(session, initiator);
  }
}

static void process_reply(TVMSession* session, uint16_t session_id) {
  if (session->state == kTVMSessionStartSessionSent &&
      responder_nonce(session_id) != NO_NONCE &&
      initiator_nonce(session_id) == session->local_nonce &&
      read_version(session) == TVM_SESSION_VERSION) {
    establish(session, session_id);
    report(session, kTVMSessionStartSessionReply, NULL);
  }
}

static void process_terminate(TVMSession* session) {
  if (session->state == kTVMSessionSessionEstablished) {
    session->state = kTVMSessionNoSessionEstablished;
    session->session_id = NO_SESSION;
    report(session, kTVMSessionTerminateSession, NULL);
  }
}

/* Hands a message on; the buffer is the receiver's until it clears it. */
static void deliver(TVMSession* session, TVMSessionMessageType type) {
  session->receive_buffer_has_complete_message = true;
  report(session, type, session->receive_buffer);
}

static void process_message(TVMSession* session) {
  uint8_t header[TVM_SESSION_HEADER_BYTES];
  if (TVMFrameBuffer_Read(session->receive_buffer, header, sizeof(header)) != sizeof(header)) {
    return;
  }
  uint16_t session_id = session_id_of(header[0], header[1]);
  switch (header[2]) {
    case kTVMSessionStartSessionInit:
      process_init(session, session_id);
      return;
    case kTVMSessionStartSessionReply:
      process_reply(session, session_id);
      return;
    case kTVMSessionTerminateSession:
      process_terminate(session);
      return;
    case kTVMSessionLog:
      if (session_id == NO_SESSION || session_id == session->session_id) {
        deliver(session, kTVMSessionLog);
      }
      return;
    case kTVMSessionNormal:
      if (session->state == kTVMSessionSessionEstablished && session_id == session->session_id) {
        deliver(session, kTVMSessionNormal);
      }
      return;
    default:
      return; /* of a later version of the protocol */
  }
}

static ssize_t receiver_write(TVMWriteStream* self, const uint8_t* data, size_t data_size_bytes) {
  TVMSession* session = (TVMSession*)self; /* its first member */
  if (session->receive_buffer_has_complete_message) {
    return -(ssize_t)kTvmErrorSessionReceiveBufferBusy;
  }
  if (TVMFrameBuffer_Write(session->receive_buffer, data, data_size_bytes) != data_size_bytes) {
    return -(ssize_t)kTvmErrorSessionReceiveBufferShortWrite;
  }
  return (ssize_t)data_size_bytes;
}

static void receiver_packet_done(TVMWriteStream* self, bool is_valid) {
  TVMSession* session = (TVMSession*)self;
  if (session->receive_buffer_has_complete_message) {
    return; /* It was an empty frame: any byte would have been refused. */
  }
  if (is_valid) {
    process_message(session);
  }
  if (!session->receive_buffer_has_complete_message) {
    TVMFrameBuffer_Clear(session->receive_buffer);
  }
}

void TVMSession_Init(TVMSession* session, TVMFramer* framer, TVMFrameBuffer* receive_buffer,
                     TVMSessionMessageReceivedFunc message_received_func, void* context) {
  session->receiver.Write = receiver_write;
  session->receiver.PacketDone = receiver_packet_done;
  session->framer = framer;
  session->receive_buffer = receive_buffer;
  session->message_received_func = message_received_func;
  session->message_received_func_context = context;
  session->state = kTVMSessionReset;
  session->session_id = NO_SESSION;
  session->local_nonce = NO_NONCE;
  session->receive_buffer_has_complete_message = false;
}

tvm_crt_error_t TVMSession_Initialize(TVMSession* session, uint8_t initial_session_nonce) {
  session->local_nonce = initial_session_nonce;
  return TVMSession_TerminateSession(session);
}

tvm_crt_error_t TVMSession_StartSession(TVMSession* session) {
  regenerate_nonce(session);
  session->session_id = session_id_of(session->local_nonce, NO_NONCE);
  session->state = kTVMSessionStartSessionSent;
  return send_version(session, kTVMSessionStartSessionInit);
}

tvm_crt_error_t TVMSession_TerminateSession(TVMSession* session) {
  session->state = kTVMSessionNoSessionEstablished;
  session->session_id = NO_SESSION;
  return send(session, NO_SESSION, kTVMSessionTerminateSession, NULL, 0);
}

tvm_crt_error_t TVMSession_SendMessage(TVMSession* session, TVMSessionMessageType message_type,
                                       const uint8_t* message_data, size_t message_size_bytes) {
  tvm_crt_error_t error = TVMSession_StartMessage(session, message_type, message_size_bytes);
  if (error == kTvmErrorNoError && message_size_bytes > 0u) {
    error = TVMSession_SendBodyChunk(session, message_data, message_size_bytes);
  }
  return error == kTvmErrorNoError ? TVMSession_FinishMessage(session) : error;
}

tvm_crt_error_t TVMSession_StartMessage(TVMSession* session, TVMSessionMessageType message_type,
                                        size_t message_size_bytes) {
  bool is_log = message_type == kTVMSessionLog;
  if (!is_log && session->state != kTVMSessionSessionEstablished) {
    return kTvmErrorSessionInvalidState;
  }
  return start_message(session, is_log ? NO_SESSION : session->session_id, message_type,
                       message_size_bytes);
}

tvm_crt_error_t TVMSession_SendBodyChunk(TVMSession* session, const uint8_t* chunk,
                                         size_t chunk_size_bytes) {
  return TVMFramer_WritePayloadChunk(session->framer, chunk, chunk_size_bytes);
}

tvm_crt_error_t TVMSession_FinishMessage(TVMSession* session) {
  return TVMFramer_FinishPacket(session->framer);
}

bool TVMSession_IsEstablished(const TVMSession* session) {
  return session->state == kTVMSessionSessionEstablished;
}

TVMWriteStream* TVMSession_Receiver(TVMSession* session) {
  return &session->receiver;
}

void TVMSession_ClearReceiveBuffer(TVMSession* session) {
  TVMFrameBuffer_Clear(session->receive_buffer);
  session->receive_buffer_has_complete_message = false;
}
