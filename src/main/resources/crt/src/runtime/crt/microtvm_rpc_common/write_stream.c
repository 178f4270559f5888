/* SPDX-License-Identifier: Apache-2.0 */
#include <tvm/runtime/crt/rpc_common/write_stream.h>

tvm_crt_error_t TVMWriteStream_WriteAll(TVMWriteStream* stream, const uint8_t* data,
                                        size_t data_size_bytes) {
  while (data_size_bytes > 0u) {
    ssize_t written = stream->Write(stream, data, data_size_bytes);
    if (written < 0) {
      return (tvm_crt_error_t)written;
    }
    if (written == 0) {
      return kTvmErrorWriteStreamShortWrite;
    }
    if ((size_t)written > data_size_bytes) {
      return kTvmErrorWriteStreamLongWrite;
    }
    data += written;
    data_size_bytes -= (size_t)written;
  }
  return kTvmErrorNoError;
}
