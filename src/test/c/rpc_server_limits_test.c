/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of the RPC server, its limits, and damage on the line.
 */
#include "rpc_calls.h"

static void system_calls_answer(void) {
  static const int device[] = {kDLDevice, kTVMArgInt};
  static const int scope[] = {kTVMDLTensorHandle, kTVMNullptr};
  start();
  static const struct {
    uint32_t code;
    const char* text;
  } unsupported[] = {{kTVMRPCDevSetDevice, "SetDevice not supported"},
                     {kTVMRPCDevGetAttr, "GetAttr not supported"},
                     {kTVMRPCDevGetCurrentStream, "GetCurrentStream not supported"},
                     {22, "Syscall not recognized"},
                     {0x7fffffff, "Syscall not recognized"},
                     {0xffffffffu, "Syscall not recognized"}};
  for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); ++i) {
    begin(unsupported[i].code);
    sequence(1, device);
    add_device();
    call();
    EXPECT(replied_exception(unsupported[i].text));
  }
  static const uint32_t empty[] = {kTVMRPCDevStreamSync, kTVMRPCDevFreeStream, kTVMRPCDevSetStream};
  for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); ++i) {
    begin(empty[i]);
    sequence(1, device);
    add_device();
    call();
    expect_void();
  }
  begin(kTVMRPCDevAllocDataWithScope);
  sequence(2, scope);
  add_tensor(0, INT8, 1, 0);
  call();
  uint64_t small = replied_handle();
  copy_from(small, 63, 1); /* 64 bytes at least */
  EXPECT(reply_u32(8) == kTVMRPCCopyAck);
  copy_from(small, 64, 1);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  free_handle(0x80008000u, kTVMPackedFuncHandle);
  expect_void();
  free_handle(0, kTVMObjectHandle);
  expect_void();
}

static void too_much_memory_is_refused_and_little_can_be_freed(void) {
  static const int types[] = {kDLDevice, kTVMArgInt, kTVMArgInt, kTVMDataType};
  static const uint64_t much[] = {UINT64_MAX, INT64_MAX, (uint64_t)1 << 40, (uint64_t)1 << 62, 4u << 20};
  start();
  size_t before = live_blocks;
  for (size_t i = 0; i < sizeof(much) / sizeof(much[0]); ++i) {
    begin(kTVMRPCDevAllocData);
    sequence(4, types);
    add_device();
    add_u64(much[i]);
    add_u64(64);
    add_u32(INT8);
    add_u32(0);
    call();
    EXPECT(reply_u32(8) == kTVMRPCException);
  }
  EXPECT(live_blocks == before);
}

static void packets_that_are_cut_or_too_long_are_refused(void) {
  start();
  uint64_t data = allocate(8);
  copy_to(data, 0, "12345678", 8);
  size_t whole = request.size;
  uint8_t kept[HOST_MOST];
  memcpy(kept, request.bytes, whole);
  for (size_t size = 12; size < whole; ++size) {
    memcpy(request.bytes, kept, size);
    request.size = size;
    call();
    EXPECT(reply_u32(8) == kTVMRPCException);
  }
  static const int types[] = {kTVMStr, kTVMArgInt};
  static const int odd[] = {kTVMObjectHandle, kTVMNDArrayHandle, kTVMObjectRValueRefArg, kTVMExtBegin, 99, -1};
  for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); ++i) {
    begin(kTVMRPCCallFunc);
    add_u64(0x80008003u);
    sequence(1, &odd[i]);
    add_u64(0);
    add_u64(0);
    call();
    EXPECT(reply_u32(8) == kTVMRPCException);
  }
  begin(kTVMRPCGetGlobalFunc);
  sequence(2, types);
  add_u64(UINT64_MAX);
  call();
  EXPECT(replied_exception("ReadError*"));
  begin(kTVMRPCGetGlobalFunc);
  add_u32(UINT32_MAX);
  call();
  EXPECT(replied_exception("ReadError*"));
  static const uint32_t not_requests[] = {kTVMRPCNone, kTVMRPCReturn, kTVMRPCException, kTVMRPCCopyAck};
  for (size_t i = 0; i < sizeof(not_requests) / sizeof(not_requests[0]); ++i) {
    begin(not_requests[i]);
    call();
    EXPECT(replied_exception("RPCCodeNotSupported"));
  }
  begin(kTVMRPCInitServer);
  add_text("0.7.0");
  sequence(0, NULL);
  call();
  EXPECT(replied_exception("the server speaks version 0.8.0 of the protocol, and the client 0.7.0"));
  begin(kTVMRPCInitServer);
  add_text("0.8.0 and much more than is told back\n");
  sequence(0, NULL);
  call();
  EXPECT(replied_exception("the server speaks version 0.8.0 of the protocol, and the client 0.8.0?and?much?more?than"));
  /* A length that is not the packet's. */
  wire_out.size = 0;
  begin(kTVMRPCShutdown);
  frame(session, kTVMSessionNormal, request.bytes, request.size);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
  collect();
  EXPECT(replies == 1);
  /* A packet of no bytes asks for nothing. */
  wire_out.size = 0;
  frame(session, kTVMSessionNormal, request.bytes, 8);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
  collect();
  EXPECT(replies == 0);
}

static void messages_for_people_are_log_messages(void) {
  char text[300];
  start();
  TVMLogf("%d bytes\n", 42);
  collect();
  EXPECT(replies == 1 && reply.size == 11 && memcmp(reply.bytes, "\0\0\x03" "42 bytes", 11) == 0);
  memset(text, 'x', sizeof(text) - 1u);
  text[sizeof(text) - 1u] = '\0';
  TVMLogf("%s", text);
  collect();
  EXPECT(replies == 1 && reply.size == 3u + 255u);
}

static void the_host_ends_the_server(void) {
  start();
  begin(kTVMRPCShutdown);
  wire_out.size = 0;
  frame_request(session);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorPlatformShutdown);
  EXPECT(from_server_size == 0);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorPlatformShutdown);
}

static void damage_on_the_line_is_dropped(void) {
  start();
  begin(kTVMRPCGetGlobalFunc);
  static const int types[] = {kTVMStr};
  sequence(1, types);
  add_text("runtime.SystemLib");
  wire_out.size = 0;
  frame_request(session);
  for (size_t i = 0; i < wire_out.size; ++i) {
    uint8_t before = wire_out.bytes[i];
    wire_out.bytes[i] ^= 0x10u;
    from_server_size = 0;
    EXPECT(give(wire_out.bytes, wire_out.size) != kTvmErrorPlatformShutdown);
    EXPECT(from_server_size == 0);
    wire_out.bytes[i] = before;
    /* The first one may only complete what a wrong length began. */
    (void)give(wire_out.bytes, wire_out.size);
    from_server_size = 0;
    EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
    collect();
    EXPECT(replies == 1);
  }
}

int main(void) {
  system_calls_answer();
  too_much_memory_is_refused_and_little_can_be_freed();
  packets_that_are_cut_or_too_long_are_refused();
  messages_for_people_are_log_messages();
  the_host_ends_the_server();
  damage_on_the_line_is_dropped();
  forget_memory();
  return 0;
}
