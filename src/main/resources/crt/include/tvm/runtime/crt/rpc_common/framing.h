/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's frames on a stream of bytes:
 *
 *   [FE] | FF FD | length (u32) | payload | CRC (u16)
 *
 * Numbers are little endian. FE is sent once, before the first frame. From the length on, a byte FF is sent twice, and FF FE inside a
 * frame means nothing. The CRC is CRC-16-CCITT (polynomial 0x1021, start 0xFFFF, high bit first) over the bytes as sent, from FF FD to
 * the end of the payload.
 */
#ifndef TVM_RUNTIME_CRT_RPC_COMMON_FRAMING_H_
#define TVM_RUNTIME_CRT_RPC_COMMON_FRAMING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/rpc_common/write_stream.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TVM_FRAMING_ESCAPE_START 0xffu /* begins an escape sequence */
#define TVM_FRAMING_ESCAPE_NOP 0xfeu   /* behind it: nothing */
#define TVM_FRAMING_PACKET_START 0xfdu /* behind it: a frame begins */

/* Bytes of a payload that the receiver hands on in one piece, at most. */
#define TVM_FRAMING_MAX_CHUNK_BYTES 128u

/* The CRC of bytes as they are sent; behind others if previous_crc, which may be null, is theirs. */
uint16_t TVMFraming_ComputeCrc(const uint8_t* data, size_t data_size_bytes,
                               const uint16_t* previous_crc);

/* What the receiver looks for. */
typedef enum {
  kTVMUnframerFindPacketStart = 0,
  kTVMUnframerFindPacketLength = 1,
  kTVMUnframerFindPacketCrc = 2, /* in the payload */
  kTVMUnframerFindCrcEnd = 3
} TVMUnframerState;

/* The receiver. */
typedef struct {
  TVMWriteStream* stream;
  TVMUnframerState state;
  bool saw_escape_start;
  uint8_t num_bytes; /* of the length or of the CRC, so far */
  uint16_t crc;
  uint16_t received_crc;
  uint32_t num_payload_bytes; /* the length; from the payload on, what is missing of it */
} TVMUnframer;

/* A receiver that hands payloads to a stream. */
void TVMUnframer_Init(TVMUnframer* unframer, TVMWriteStream* stream);

/* Drops what came of a frame and looks for the next one. */
void TVMUnframer_Reset(TVMUnframer* unframer);

/* Takes bytes: a part of a frame, or several. The stream gets payloads in pieces, and PacketDone at the end of each frame; a frame with
 * another CRC is no error.
 *
 * bytes_consumed is less than data_size_bytes only with an error: kTvmErrorFramingShortPacket (a frame began inside a frame; the
 * receiver stands between its FF and its FD), kTvmErrorFramingInvalidEscape, or what TVMWriteStream_WriteAll returned. The frame is lost
 * then, and the caller goes on with the next byte. */
tvm_crt_error_t TVMUnframer_Write(TVMUnframer* unframer, const uint8_t* data,
                                  size_t data_size_bytes, size_t* bytes_consumed);

/* How many bytes may be waited for: not more than the current part of the frame misses, 1 between frames. */
size_t TVMUnframer_BytesNeeded(const TVMUnframer* unframer);

/* What the sender does. */
typedef enum {
  kTVMFramerReset = 0,
  kTVMFramerIdle = 1,
  kTVMFramerTransmitPacketPayload = 2,
  kTVMFramerTransmitPacketCrc = 3
} TVMFramerState;

/* The sender. */
typedef struct {
  TVMWriteStream* stream;
  TVMFramerState state;
  uint16_t crc;
  uint32_t num_payload_bytes_remaining;
} TVMFramer;

/* A sender that writes to a stream. */
void TVMFramer_Init(TVMFramer* framer, TVMWriteStream* stream);

/* Lets the next frame begin with FE again. */
void TVMFramer_Reset(TVMFramer* framer);

/* Sends a frame. Like the three below, it returns what TVMWriteStream_WriteAll returned; the sender is reset if that is an error. */
tvm_crt_error_t TVMFramer_Write(TVMFramer* framer, const uint8_t* payload,
                                size_t payload_size_bytes);

/* Begins a frame of this many bytes, at most 2^32 - 1. */
tvm_crt_error_t TVMFramer_StartPacket(TVMFramer* framer, size_t payload_size_bytes);

/* Sends a part of the payload. kTvmErrorFramingInvalidState if no frame was begun, kTvmErrorFramingPayloadOverflow if it is more than
 * was said. */
tvm_crt_error_t TVMFramer_WritePayloadChunk(TVMFramer* framer, const uint8_t* payload_chunk,
                                            size_t payload_chunk_size_bytes);

/* Ends a frame. kTvmErrorFramingInvalidState if none was begun, kTvmErrorFramingPayloadIncomplete if payload is missing. */
tvm_crt_error_t TVMFramer_FinishPacket(TVMFramer* framer);

#ifdef __cplusplus
}

/* microTVM's classes on top of the C above. */
namespace tvm {
namespace runtime {
namespace micro_rpc {

inline uint16_t crc16_compute(const uint8_t* data, size_t data_size_bytes, uint16_t* previous_crc) {
  return TVMFraming_ComputeCrc(data, data_size_bytes, previous_crc);
}

enum class Escape : uint8_t {
  kEscapeStart = TVM_FRAMING_ESCAPE_START,
  kEscapeNop = TVM_FRAMING_ESCAPE_NOP,
  kPacketStart = TVM_FRAMING_PACKET_START
};

class PacketFieldSizeBytes {
 public:
  static constexpr const size_t kPayloadLength = sizeof(uint32_t);
  static constexpr const size_t kCrc = sizeof(uint16_t);
};

class Unframer {
 public:
  explicit Unframer(WriteStream* stream) : ends_{stream}, stream_{&ends_} {
    TVMUnframer_Init(&unframer_, &stream_.base);
  }

  Unframer(const Unframer&) = delete;
  Unframer& operator=(const Unframer&) = delete;

  /* As TVMUnframer_Write, but for what fails: PacketDone is not called then, and bytes that the stream did not take are not consumed. */
  tvm_crt_error_t Write(const uint8_t* data, size_t data_size_bytes, size_t* bytes_consumed) {
    stream_.refused = 0;
    tvm_crt_error_t error = TVMUnframer_Write(&unframer_, data, data_size_bytes, bytes_consumed);
    *bytes_consumed -= stream_.refused;
    ends_.Settle(error == kTvmErrorNoError);
    return error;
  }

  void Reset() { TVMUnframer_Reset(&unframer_); }

  size_t BytesNeeded() { return TVMUnframer_BytesNeeded(&unframer_); }

 private:
  /* Keeps the end of a damaged frame back until it is known what damaged it. */
  class Ends : public WriteStream {
   public:
    explicit Ends(WriteStream* stream) : stream_{stream}, is_due_{false} {}

    void operator delete(void*) noexcept {} /* It is a member, never on a heap. */

    ssize_t Write(const uint8_t* data, size_t data_size_bytes) override {
      Settle(true);
      return stream_->Write(data, data_size_bytes);
    }

    void PacketDone(bool is_valid) override {
      Settle(true);
      is_due_ = !is_valid;
      if (is_valid) {
        stream_->PacketDone(true);
      }
    }

    void Settle(bool is_told) {
      bool was_due = is_due_;
      is_due_ = false;
      if (was_due && is_told) {
        stream_->PacketDone(false);
      }
    }

   private:
    WriteStream* stream_;
    bool is_due_;
  };

  Ends ends_;
  WriteStream::CStream stream_;
  TVMUnframer unframer_;
};

class Framer {
 public:
  typedef ssize_t (*WriteFunc)(const uint8_t* data, size_t data_size_bytes);

  explicit Framer(WriteStream* stream) : stream_{stream} { TVMFramer_Init(&framer_, &stream_.base); }

  Framer(const Framer&) = delete;
  Framer& operator=(const Framer&) = delete;

  tvm_crt_error_t Write(const uint8_t* payload, size_t payload_size_bytes) {
    return TVMFramer_Write(&framer_, payload, payload_size_bytes);
  }

  tvm_crt_error_t StartPacket(size_t payload_size_bytes) { return TVMFramer_StartPacket(&framer_, payload_size_bytes); }

  tvm_crt_error_t WritePayloadChunk(const uint8_t* payload_chunk, size_t payload_chunk_size_bytes) {
    return TVMFramer_WritePayloadChunk(&framer_, payload_chunk, payload_chunk_size_bytes);
  }

  tvm_crt_error_t FinishPacket() { return TVMFramer_FinishPacket(&framer_); }

  void Reset() { TVMFramer_Reset(&framer_); }

  /* The same sender for the functions in C. */
  TVMFramer* c() { return &framer_; }

 private:
  WriteStream::CStream stream_;
  TVMFramer framer_;
};

}  // namespace micro_rpc
using micro_rpc::Escape;
using micro_rpc::Framer;
using micro_rpc::PacketFieldSizeBytes;
using micro_rpc::Unframer;
using micro_rpc::crc16_compute;
}  // namespace runtime
}  // namespace tvm
#endif

#endif /* TVM_RUNTIME_CRT_RPC_COMMON_FRAMING_H_ */
