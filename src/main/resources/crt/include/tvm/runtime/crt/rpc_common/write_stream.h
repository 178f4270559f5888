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
#endif

#endif /* TVM_RUNTIME_CRT_RPC_COMMON_WRITE_STREAM_H_ */
