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
#endif

#endif /* TVM_RUNTIME_CRT_RPC_COMMON_FRAME_BUFFER_H_ */
