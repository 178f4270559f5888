/* SPDX-License-Identifier: Apache-2.0
 *
 * Where frames are written to, and where the payloads of received frames go.
 */
#ifndef TVM_RUNTIME_CRT_RPC_COMMON_WRITE_STREAM_H_
#define TVM_RUNTIME_CRT_RPC_COMMON_WRITE_STREAM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sink of bytes. A stream of one's own has this as its first member. */
typedef struct TVMWriteStream {
  /* Takes at most data_size_bytes bytes. Returns how many it took, or a negative error. */
  ssize_t (*Write)(struct TVMWriteStream* self, const uint8_t* data, size_t data_size_bytes);

  /* Called at the end of each received frame; is_valid tells whether it arrived whole, with the right CRC. */
  void (*PacketDone)(struct TVMWriteStream* self, bool is_valid);
} TVMWriteStream;

/* Writes all of data, in as many calls as the stream needs.
 *
 * kTvmErrorWriteStreamShortWrite if the stream takes nothing, kTvmErrorWriteStreamLongWrite if it says that it took more than it was
 * given; a negative result of the stream is returned as it is. */
tvm_crt_error_t TVMWriteStream_WriteAll(TVMWriteStream* stream, const uint8_t* data,
                                        size_t data_size_bytes);

#ifdef __cplusplus
}

/* microTVM's classes on top of the C above. */
namespace tvm {
namespace runtime {
namespace micro_rpc {

/* A sink of bytes. */
class WriteStream {
 public:
  virtual ~WriteStream() {}

  /* As TVMWriteStream's. */
  virtual ssize_t Write(const uint8_t* data, size_t data_size_bytes) = 0;
  virtual void PacketDone(bool is_valid) = 0;

  /* As TVMWriteStream_WriteAll; bytes_consumed says how far that came. */
  tvm_crt_error_t WriteAll(uint8_t* data, size_t data_size_bytes, size_t* bytes_consumed) {
    CStream stream(this);
    tvm_crt_error_t error = TVMWriteStream_WriteAll(&stream.base, data, data_size_bytes);
    *bytes_consumed = stream.taken;
    return error;
  }

  /* This stream for the functions in C, which counts what it takes. */
  struct CStream {
    explicit CStream(WriteStream* of) : base{Take, Done}, stream{of}, taken{0}, refused{0} {}

    static CStream* self(TVMWriteStream* base) { return reinterpret_cast<CStream*>(base); }

    static ssize_t Take(TVMWriteStream* base, const uint8_t* data, size_t size) {
      ssize_t result = self(base)->stream->Write(data, size);
      bool is_good = result > 0 && static_cast<size_t>(result) <= size;
      self(base)->taken += is_good ? static_cast<size_t>(result) : 0;
      self(base)->refused = is_good ? 0 : size;
      return result;
    }

    static void Done(TVMWriteStream* base, bool is_valid) { self(base)->stream->PacketDone(is_valid); }

    TVMWriteStream base; /* first, so that both have one address */
    WriteStream* stream;
    size_t taken;
    size_t refused; /* of the last call */
  };
};

}  // namespace micro_rpc
using micro_rpc::WriteStream;
}  // namespace runtime
}  // namespace tvm
#endif

#endif /* TVM_RUNTIME_CRT_RPC_COMMON_WRITE_STREAM_H_ */
