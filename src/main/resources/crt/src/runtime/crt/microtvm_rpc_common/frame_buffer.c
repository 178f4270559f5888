/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/rpc_common/frame_buffer.h>

void TVMFrameBuffer_Init(TVMFrameBuffer* buffer, uint8_t* data, size_t data_size_bytes) {
  buffer->data = data;
  buffer->capacity = data_size_bytes;
  TVMFrameBuffer_Clear(buffer);
}

size_t TVMFrameBuffer_Write(TVMFrameBuffer* buffer, const uint8_t* data, size_t data_size_bytes) {
  size_t room = buffer->capacity - buffer->num_valid_bytes;
  size_t taken = data_size_bytes < room ? data_size_bytes : room;
  if (taken > 0u) {
    memcpy(buffer->data + buffer->num_valid_bytes, data, taken);
    buffer->num_valid_bytes += taken;
  }
  return taken;
}

size_t TVMFrameBuffer_Peek(const TVMFrameBuffer* buffer, uint8_t* data, size_t data_size_bytes) {
  size_t available = TVMFrameBuffer_ReadAvailable(buffer);
  size_t taken = data_size_bytes < available ? data_size_bytes : available;
  if (taken > 0u) {
    memcpy(data, buffer->data + buffer->read_cursor, taken);
  }
  return taken;
}

size_t TVMFrameBuffer_Read(TVMFrameBuffer* buffer, uint8_t* data, size_t data_size_bytes) {
  size_t taken = TVMFrameBuffer_Peek(buffer, data, data_size_bytes);
  buffer->read_cursor += taken;
  return taken;
}

void TVMFrameBuffer_Clear(TVMFrameBuffer* buffer) {
  buffer->num_valid_bytes = 0;
  buffer->read_cursor = 0;
}

size_t TVMFrameBuffer_ReadAvailable(const TVMFrameBuffer* buffer) {
  return buffer->num_valid_bytes - buffer->read_cursor;
}

size_t TVMFrameBuffer_Size(const TVMFrameBuffer* buffer) {
  return buffer->capacity;
}
