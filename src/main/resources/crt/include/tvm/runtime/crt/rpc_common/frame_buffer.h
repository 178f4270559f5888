/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of one message, written at the end and read from the beginning; nothing wraps around.
 */
#ifndef TVM_RUNTIME_CRT_RPC_COMMON_FRAME_BUFFER_H_
#define TVM_RUNTIME_CRT_RPC_COMMON_FRAME_BUFFER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint8_t* data;
  size_t capacity;
  size_t num_valid_bytes; /* written so far */
  size_t read_cursor;     /* read so far */
} TVMFrameBuffer;

/* An empty buffer on memory of the caller's. */
void TVMFrameBuffer_Init(TVMFrameBuffer* buffer, uint8_t* data, size_t data_size_bytes);

/* Appends as much as there is room for. Returns how many bytes that was. */
size_t TVMFrameBuffer_Write(TVMFrameBuffer* buffer, const uint8_t* data, size_t data_size_bytes);

/* Reads as many bytes as there are, at most data_size_bytes. Returns how many that was. */
size_t TVMFrameBuffer_Read(TVMFrameBuffer* buffer, uint8_t* data, size_t data_size_bytes);

/* Reads without moving on. */
size_t TVMFrameBuffer_Peek(const TVMFrameBuffer* buffer, uint8_t* data, size_t data_size_bytes);

/* Forgets everything. */
void TVMFrameBuffer_Clear(TVMFrameBuffer* buffer);

/* Bytes that can be read. */
size_t TVMFrameBuffer_ReadAvailable(const TVMFrameBuffer* buffer);

/* Bytes that the buffer can hold. */
size_t TVMFrameBuffer_Size(const TVMFrameBuffer* buffer);

#ifdef __cplusplus
}

/* microTVM's class on top of the C above. */
namespace tvm {
namespace runtime {
namespace micro_rpc {

class FrameBuffer {
 public:
  FrameBuffer(uint8_t* data, size_t data_size_bytes) { TVMFrameBuffer_Init(&buffer_, data, data_size_bytes); }

  size_t Write(const uint8_t* data, size_t data_size_bytes) {
    return TVMFrameBuffer_Write(&buffer_, data, data_size_bytes);
  }

  size_t Read(uint8_t* data, size_t data_size_bytes) { return TVMFrameBuffer_Read(&buffer_, data, data_size_bytes); }

  size_t Peek(uint8_t* data, size_t data_size_bytes) { return TVMFrameBuffer_Peek(&buffer_, data, data_size_bytes); }

  void Clear() { TVMFrameBuffer_Clear(&buffer_); }

  size_t ReadAvailable() const { return TVMFrameBuffer_ReadAvailable(&buffer_); }

  /* Bytes written so far, read or not. */
  size_t Size() const { return buffer_.num_valid_bytes; }

  /* The same buffer for the functions in C. */
  TVMFrameBuffer* c() { return &buffer_; }

 private:
  TVMFrameBuffer buffer_;
};

}  // namespace micro_rpc
}  // namespace runtime
}  // namespace tvm
#endif

#endif /* TVM_RUNTIME_CRT_RPC_COMMON_FRAME_BUFFER_H_ */
