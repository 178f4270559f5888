/* SPDX-License-Identifier: Apache-2.0
 *
 * A host in the same program as the server: it sends packets through microTVM's sessions and keeps what comes back. Memory is this
 * computer's, so that a sanitizer watches every block.
 */
#ifndef RPC_HOST_H_
#define RPC_HOST_H_

#include "rpc_platform.h"

/* A packet that is being put together. */
struct packet {
  uint8_t bytes[HOST_MOST];
  size_t size;
};

static struct packet request;

static inline void add(const void* data, size_t size) {
  EXPECT(request.size + size <= HOST_MOST);
  memcpy(request.bytes + request.size, data, size);
  request.size += size;
}

static inline void add_u32(uint32_t value) {
  for (uint32_t i = 0; i < 4u; ++i) {
    uint8_t byte = (uint8_t)(value >> 8u * i & 0xffu);
    add(&byte, 1);
  }
}

static inline void add_u64(uint64_t value) {
  add_u32((uint32_t)(value & 0xffffffffu));
  add_u32((uint32_t)(value >> 32));
}

static inline void begin(uint32_t code) {
  request.size = 0;
  add_u64(0);
  add_u32(code);
}

/* Begins a packed sequence: how many, and their types. */
static inline void sequence(uint32_t count, const int* types) {
  add_u32(count);
  for (uint32_t i = 0; i < count; ++i) {
    add_u32((uint32_t)types[i]);
  }
}

static inline void add_text(const char* text) {
  add_u64(strlen(text));
  add(text, strlen(text));
}

static inline void add_device(void) {
  add_u32(kDLCPU);
  add_u32(0);
}

/* A tensor of one dimension. */
static inline void add_tensor(uint64_t address, uint32_t type, int64_t elements, uint64_t byte_offset) {
  add_u64(address);
  add_device();
  add_u32(1);
  add_u32(type);
  add_u64((uint64_t)elements);
  add_u64(byte_offset);
}

#define INT8 0x00010800u
#define INT32 0x00012000u

/* Frames a message of the session. */
static struct packet wire_out;

static inline ssize_t wire_out_write(TVMWriteStream* self, const uint8_t* data, size_t size) {
  (void)self;
  EXPECT(wire_out.size + size <= HOST_MOST);
  memcpy(wire_out.bytes + wire_out.size, data, size);
  wire_out.size += size;
  return (ssize_t)size;
}

static inline void frame(uint16_t session_id, uint8_t type, const uint8_t* body, size_t size) {
  TVMWriteStream stream = {wire_out_write, NULL};
  TVMFramer framer;
  uint8_t header[TVM_SESSION_HEADER_BYTES] = {(uint8_t)(session_id & 0xffu), (uint8_t)(session_id >> 8), type};
  TVMFramer_Init(&framer, &stream);
  framer.state = kTVMFramerIdle;
  EXPECT(TVMFramer_StartPacket(&framer, sizeof(header) + size) == kTvmErrorNoError);
  EXPECT(TVMFramer_WritePayloadChunk(&framer, header, sizeof(header)) == kTvmErrorNoError);
  EXPECT(TVMFramer_WritePayloadChunk(&framer, body, size) == kTvmErrorNoError);
  EXPECT(TVMFramer_FinishPacket(&framer) == kTvmErrorNoError);
}

/* Completes the packet's length and frames it. */
static inline void frame_request(uint16_t session_id) {
  uint64_t length = request.size - 8u;
  for (uint32_t i = 0; i < 8u; ++i) {
    request.bytes[i] = (uint8_t)(length >> 8u * i & 0xffu);
  }
  frame(session_id, kTVMSessionNormal, request.bytes, request.size);
}

/* The payload of the last good frame that came back. */
static struct packet reply;
static struct packet receiving;
static size_t replies;

static inline ssize_t reply_write(TVMWriteStream* self, const uint8_t* data, size_t size) {
  (void)self;
  EXPECT(receiving.size + size <= HOST_MOST);
  memcpy(receiving.bytes + receiving.size, data, size);
  receiving.size += size;
  return (ssize_t)size;
}

static inline void reply_done(TVMWriteStream* self, bool is_valid) {
  (void)self;
  EXPECT(is_valid);
  reply = receiving;
  receiving.size = 0;
  ++replies;
}

/* Reads what the server wrote; every frame of it must be whole. */
static inline void collect(void) {
  TVMWriteStream stream = {reply_write, reply_done};
  TVMUnframer unframer;
  size_t consumed = 0;
  replies = 0;
  reply.size = 0;
  TVMUnframer_Init(&unframer, &stream);
  EXPECT(TVMUnframer_Write(&unframer, from_server, from_server_size, &consumed) == kTvmErrorNoError);
  EXPECT(unframer.state == kTVMUnframerFindPacketStart);
  from_server_size = 0;
}

static uint16_t session;

/* Sends the packet and waits for its only reply. */
static inline void call(void) {
  wire_out.size = 0;
  frame_request(session);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
  collect();
  EXPECT(replies == 1 && reply.size >= 3u && reply.bytes[2] == kTVMSessionNormal);
  reply.size -= 3u;
  memmove(reply.bytes, reply.bytes + 3, reply.size);
}

static inline uint64_t reply_u64(size_t at) {
  uint64_t value = 0;
  EXPECT(at + 8u <= reply.size);
  for (size_t i = 8; i > 0u; --i) {
    value = value << 8 | reply.bytes[at + i - 1u];
  }
  return value;
}

static inline uint32_t reply_u32(size_t at) {
  uint32_t value = 0;
  EXPECT(at + 4u <= reply.size);
  for (size_t i = 4; i > 0u; --i) {
    value = value << 8 | reply.bytes[at + i - 1u];
  }
  return value;
}

/* The first word of a system call's reply. */
static inline uint64_t replied_handle(void) {
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u32(12) == 1 && reply_u32(16) == kTVMOpaqueHandle);
  return reply_u64(20);
}

static inline void expect_void(void) {
  static const uint8_t bytes[] = {0x0c, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0};
  EXPECT(reply.size == sizeof(bytes) && memcmp(reply.bytes, bytes, sizeof(bytes)) == 0);
}

/* Whether the reply is an exception with this text, or one that begins with it and ends with a *. */
static inline int replied_exception(const char* text) {
  if (reply_u32(8) != kTVMRPCException || reply_u32(12) != 1 || reply_u32(16) != kTVMStr) {
    return 0;
  }
  size_t length = strlen(text);
  int is_start = length > 0u && text[length - 1u] == '*';
  length -= (size_t)is_start;
  uint64_t replied = reply_u64(20);
  EXPECT(replied == reply.size - 28u);
  return (is_start ? replied >= length : replied == length) && memcmp(reply.bytes + 28, text, length) == 0;
}

/* Starts the server and a session with it. */
static inline void connect_host(void) {
  static const uint8_t version = TVM_SESSION_VERSION;
  forget_memory();
  from_server_size = 0;
  server = MicroTVMRpcServerInit(host_write, NULL);
  collect();
  EXPECT(replies == 1 && reply.size == 3 && reply.bytes[2] == kTVMSessionTerminateSession);
  wire_out.size = 0;
  frame(0x82, kTVMSessionStartSessionInit, &version, 1);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
  collect();
  EXPECT(replies == 1 && reply.bytes[2] == kTVMSessionStartSessionReply);
  session = (uint16_t)(reply.bytes[0] | (uint32_t)reply.bytes[1] << 8);
}

static inline uint64_t get_global(const char* name) {
  static const int types[] = {kTVMStr};
  begin(kTVMRPCGetGlobalFunc);
  sequence(1, types);
  add_text(name);
  call();
  return replied_handle();
}

static inline uint64_t allocate(uint64_t bytes) {
  static const int types[] = {kDLDevice, kTVMArgInt, kTVMArgInt, kTVMDataType};
  begin(kTVMRPCDevAllocData);
  sequence(4, types);
  add_device();
  add_u64(bytes);
  add_u64(64);
  add_u32(INT8);
  add_u32(0);
  call();
  return replied_handle();
}

static inline void copy_to(uint64_t address, uint64_t byte_offset, const void* data, size_t size) {
  begin(kTVMRPCCopyToRemote);
  add_tensor(address, INT8, (int64_t)size, byte_offset);
  add_u64(size);
  add(data, size);
  call();
}

static inline void copy_from(uint64_t address, uint64_t byte_offset, uint64_t size) {
  begin(kTVMRPCCopyFromRemote);
  add_tensor(address, INT8, (int64_t)size, byte_offset);
  add_u64(size);
  call();
}

static inline void free_data(uint64_t address) {
  static const int types[] = {kDLDevice, kTVMOpaqueHandle};
  begin(kTVMRPCDevFreeData);
  sequence(2, types);
  add_device();
  add_u64(address);
  call();
}

static inline void free_handle(uint64_t handle, int type) {
  static const int types[] = {kTVMOpaqueHandle, kTVMArgInt};
  begin(kTVMRPCFreeHandle);
  sequence(2, types);
  add_u64(handle);
  add_u64((uint64_t)type);
  call();
}

#endif
