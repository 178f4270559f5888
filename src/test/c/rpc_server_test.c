/* SPDX-License-Identifier: Apache-2.0
 *
 * The RPC server on this computer, over the bytes that a host would send.
 */
#include <stdio.h>
#include <tvm/runtime/crt/logging.h>

#include "rpc_host.h"
#include "rpc_library.h"
#include "rpc_wire.h"

#define UNKNOWN_ADDRESS "address outside the memory that the server allocated"

static uint64_t library_handle;

/* Calls a function without arguments and returns the reply's value; its type code must be as expected. */
static uint64_t call_plain(uint64_t function, uint64_t type_code) {
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(0, NULL);
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u32(12) == 2 && reply_u64(24) == type_code);
  return type_code == kTVMNullptr ? 0u : reply_u64(32);
}

static uint64_t function_of(uint64_t module, const char* name) {
  static const int types[] = {kTVMModuleHandle, kTVMStr, kTVMArgInt};
  uint64_t look_up = get_global("tvm.rpc.server.ModuleGetFunction");
  begin(kTVMRPCCallFunc);
  add_u64(look_up);
  sequence(3, types);
  add_u64(module);
  add_text(name);
  add_u64(0);
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u32(12) == 2);
  return reply_u64(24) == kTVMPackedFuncHandle ? reply_u64(32) : 0u;
}

/* A server with a session and the system library. */
static void start(void) {
  connect_host();
  library_handle = call_plain(get_global("runtime.SystemLib"), kTVMModuleHandle);
}

/* Begins a call with one or two tensors. */
static void call_tensors(uint64_t function, uint64_t first, uint64_t second, int64_t elements, uint32_t type) {
  static const int types[] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(2, types);
  add_tensor(first, type, elements, 0);
  add_tensor(second, type, elements, 0);
  call();
}

static void replied_bytes(const char* hex) {
  uint8_t bytes[HOST_MOST];
  size_t size = wire_hex(hex, bytes);
  EXPECT(reply.size == size && memcmp(reply.bytes, bytes, size) == 0);
}

static void give_hex(const char* hex) {
  uint8_t bytes[HOST_MOST];
  EXPECT(give(bytes, wire_hex(hex, bytes)) == kTvmErrorNoError);
}

static void written(const char* hex) {
  uint8_t bytes[HOST_MOST];
  size_t size = wire_hex(hex, bytes);
  EXPECT(from_server_size == size && memcmp(from_server, bytes, size) == 0);
  from_server_size = 0;
}

/* The conversation of the protocol's description, byte by byte. */
static void a_session_begins_with_these_bytes(void) {
  forget_memory();
  server = MicroTVMRpcServerInit(host_write, NULL);
  written("FE FF FD 03 00 00 00 00 00 02 66 77");
  give_hex("FE FF FD 03 00 00 00 00 00 02 66 77");
  give_hex("FF FD 04 00 00 00 82 00 00 01 7B E9");
  written("FF FD 04 00 00 00 82 66 01 01 81 F3");
  give_hex("FF FD 20 00 00 00 82 66 10 15 00 00 00 00 00 00 00 02 00 00 00 05 00 00 00 00 00 00 00 30 2E 38 2E 30 "
           "00 00 00 00 6F DE");
  written("FF FD 17 00 00 00 82 66 10 0C 00 00 00 00 00 00 00 04 00 00 00 01 00 00 00 04 00 00 00 94 9A");
  session = 0x6682;
  (void)get_global("runtime.SystemLib");
  replied_bytes("14 00 00 00 00 00 00 00 04 00 00 00 01 00 00 00 03 00 00 00 00 80 02 80 00 00 00 00");
  (void)call_plain(0x80028000u, kTVMModuleHandle);
  replied_bytes("20 00 00 00 00 00 00 00 04 00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 09 00 00 00 00 00 00 00 "
                "00 80 00 00 00 00 00 00");
}

/* Frame and reply together. */
static void a_call_without_arguments_costs_at_most_150_bytes(void) {
  start();
  uint64_t function = function_of(library_handle, "echo");
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(0, NULL);
  wire_out.size = 0;
  frame_request(session);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
  EXPECT(wire_out.size + from_server_size <= 150u);
  collect();
}

static void functions_are_found_and_called(void) {
  start();
  EXPECT(library_handle == 0x8000u);
  EXPECT(get_global("no.such.function") == 0u);
  EXPECT(function_of(library_handle, "no_such_function") == 0u);
  EXPECT(get_global("tvm.rpc.server.GetCRTMaxPacketSize") != 0u);
  EXPECT(call_plain(get_global("tvm.rpc.server.GetCRTMaxPacketSize"), kTVMArgInt) ==
         TVM_CRT_MAX_PACKET_SIZE_BYTES - 11u);
  uint64_t function = function_of(library_handle, "negate");
  EXPECT(function == 0x80008000u);
  uint64_t in = allocate(MODEL_BYTES);
  uint64_t out = allocate(MODEL_BYTES);
  copy_to(in, 0, "\x01\x02\xff\x04\x7f\x00", MODEL_BYTES);
  expect_void();
  call_tensors(function, in, out, MODEL_BYTES, INT8);
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMNullptr);
  replied_bytes("18 00 00 00 00 00 00 00 04 00 00 00 02 00 00 00 00 00 00 00 04 00 00 00 04 00 00 00 00 00 00 00");
  copy_from(out, 0, MODEL_BYTES);
  replied_bytes("0A 00 00 00 00 00 00 00 08 00 00 00 FF FE 01 FC 81 00");
  free_data(in);
  expect_void();
  free_data(out);
  expect_void();
}

static void tensors_are_copied_in_blocks(void) {
  start();
  uint64_t data = allocate(100);
  copy_to(data, 0, "\x01\x02\xff\x04", 4);
  expect_void();
  copy_to(data, 96, "wxyz", 4);
  expect_void();
  copy_from(data, 0, 4);
  replied_bytes("08 00 00 00 00 00 00 00 08 00 00 00 01 02 FF 04");
  copy_from(data, 97, 3);
  EXPECT(memcmp(reply.bytes + 12, "xyz", 3) == 0);
  copy_from(data, 100, 0);
  replied_bytes("04 00 00 00 00 00 00 00 08 00 00 00");
  static const int types[] = {kTVMDLTensorHandle, kTVMDLTensorHandle, kTVMOpaqueHandle};
  begin(kTVMRPCCopyAmongRemote);
  sequence(3, types);
  add_tensor(data, INT8, 4, 0);
  add_tensor(data, INT8, 4, 50);
  add_u64(0);
  call();
  expect_void();
  copy_from(data, 50, 4);
  EXPECT(memcmp(reply.bytes + 12, "\x01\x02\xff\x04", 4) == 0);
}

/* Neither read nor written: the sanitizer watches. */
static void other_addresses_are_refused(void) {
  static int8_t elsewhere[64];
  start();
  uint64_t data = allocate(100);
  uint64_t outside[] = {0, 1, (uint64_t)(uintptr_t)elsewhere, data - 1u, data + 97u, data + 100u, UINT64_MAX,
                        UINT64_MAX - 3u, (uint64_t)(uintptr_t)server, data ^ (uint64_t)1 << 63};
  for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); ++i) {
    copy_from(outside[i], 0, 4);
    EXPECT(replied_exception(UNKNOWN_ADDRESS));
    copy_to(outside[i], 0, "abcd", 4);
    EXPECT(replied_exception(UNKNOWN_ADDRESS));
    call_tensors(function_of(library_handle, "echo"), outside[i], data, 4, INT8);
    EXPECT(replied_exception(UNKNOWN_ADDRESS));
    free_data(outside[i]);
    EXPECT(replied_exception(UNKNOWN_ADDRESS));
    free_handle(outside[i], kTVMNDArrayHandle);
    EXPECT(replied_exception("error 0x0803"));
  }
  copy_from(data, 97, 4);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  copy_from(data, UINT64_MAX, 4);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  copy_from(data, 0, UINT64_MAX);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  copy_from(data, 4, UINT64_MAX - 3u);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  call_tensors(function_of(library_handle, "negate"), data + 1u, data, 4, INT32);
  EXPECT(replied_exception(UNKNOWN_ADDRESS)); /* not aligned */
  call_tensors(function_of(library_handle, "negate"), data, data, INT64_MAX, INT32);
  EXPECT(replied_exception("CheckError*"));
  call_tensors(function_of(library_handle, "negate"), data, data, -1, INT8);
  EXPECT(replied_exception("CheckError*"));
  free_data(data);
  expect_void();
  copy_from(data, 0, 4);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  free_data(data);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
}

static void handles_that_lead_anywhere_are_refused(void) {
  static const int handle[] = {kTVMOpaqueHandle};
  start();
  uint64_t function = function_of(library_handle, "echo");
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(1, handle);
  add_u64(0x20000000u);
  call();
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  uint64_t wrong[] = {0, 1, 0x8000u, 0x80008006u, 0x80018000u, 0x80020000u, 0x8002ffffu, 0xffffffffu, UINT64_MAX,
                      0x7fff8000u, (uint64_t)(uintptr_t)server};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    begin(kTVMRPCCallFunc);
    add_u64(wrong[i]);
    sequence(0, NULL);
    call();
    EXPECT(reply_u32(8) == kTVMRPCException);
    free_handle(wrong[i], kTVMModuleHandle);
    EXPECT(reply_u32(8) == kTVMRPCException || wrong[i] == 0x8000u);
    EXPECT(function_of(wrong[i], "echo") == 0u || wrong[i] == 0x8000u);
  }
}

static void what_fails_is_told(void) {
  start();
  uint64_t explodes = function_of(library_handle, "boom");
  uint64_t is_silent = function_of(library_handle, "silent");
  begin(kTVMRPCCallFunc);
  add_u64(explodes);
  sequence(0, NULL);
  call();
  replied_bytes("18 00 00 00 00 00 00 00 05 00 00 00 01 00 00 00 0B 00 00 00 04 00 00 00 00 00 00 00 62 6F 6F 6D");
  begin(kTVMRPCCallFunc);
  add_u64(is_silent);
  sequence(0, NULL);
  call();
  EXPECT(replied_exception("error 0x0702")); /* and not the message of the call before */
}

static void values_come_back_as_they_were(void) {
  static const int types[] = {kTVMArgInt, kTVMArgFloat, kTVMNullptr, kTVMDataType, kDLDevice, kTVMStr,
                              kTVMModuleHandle, kTVMPackedFuncHandle};
  start();
  uint64_t function = function_of(library_handle, "echo");
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
    begin(kTVMRPCCallFunc);
    add_u64(function);
    sequence(1, &types[i]);
    if (types[i] == kTVMStr) {
      add_text("text");
    } else if (types[i] != kTVMNullptr) {
      add_u64(types[i] == kTVMDataType ? INT32 : 0x8000u);
    }
    call();
    EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u32(12) == 2 && reply_u32(16) == kTVMArgInt);
    EXPECT(reply_u64(24) == (uint64_t)types[i]);
    int is_handle = types[i] == kTVMModuleHandle || types[i] == kTVMPackedFuncHandle;
    EXPECT(reply_u32(20) == (uint32_t)(is_handle ? kTVMOpaqueHandle : types[i]));
    if (types[i] == kTVMStr) {
      EXPECT(reply_u64(32) == 4 && memcmp(reply.bytes + 40, "text", 4) == 0);
    } else if (types[i] != kTVMNullptr) {
      EXPECT(reply_u64(32) == (types[i] == kTVMDataType ? INT32 : 0x8000u));
    }
  }
}

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
  static const int odd[] = {kTVMObjectHandle, kTVMNDArrayHandle, kTVMObjectRValueRefArg, kTVMArgBool, 99, -1};
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
  EXPECT(replied_exception("the server speaks version 0.8.0*"));
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

static void the_executor_is_driven(void) {
  static const int create[] = {kTVMModuleHandle, kDLDevice, kTVMStr};
  static const int index[] = {kTVMArgInt};
  start();
  size_t before = live_blocks;
  uint64_t create_executor = get_global("tvm.aot_executor.create");
  begin(kTVMRPCCallFunc);
  add_u64(create_executor);
  sequence(3, create);
  add_u64(library_handle);
  add_device();
  add_text("default");
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMModuleHandle);
  uint64_t executor = reply_u64(32);
  uint64_t get[2] = {function_of(executor, "get_input"), function_of(executor, "get_output")};
  uint64_t data[2];
  uint64_t array[2];
  for (size_t i = 0; i < 2u; ++i) {
    begin(kTVMRPCCallFunc);
    add_u64(get[i]);
    sequence(1, index);
    add_u64(0);
    call();
    EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u32(12) == 3 && reply_u64(28) == kTVMNDArrayHandle);
    EXPECT(reply_u32(20) == kTVMDLTensorHandle && reply_u32(24) == kTVMOpaqueHandle);
    data[i] = reply_u64(36);
    EXPECT(reply_u32(52) == 1 && reply_u32(56) == INT8 && reply_u64(60) == MODEL_BYTES);
    array[i] = reply_u64(76);
  }
  free_handle(0x8002u, kTVMModuleHandle); /* The global functions stay, and so do the arrays. */
  expect_void();
  copy_to(data[0], 0, "\x01\x02\x03\x04\x05\x06", MODEL_BYTES);
  expect_void();
  copy_to(data[0], 1, "\x01\x02\x03\x04\x05\x06", MODEL_BYTES);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  (void)call_plain(function_of(executor, "run"), kTVMNullptr);
  copy_from(data[1], 0, MODEL_BYTES);
  EXPECT(memcmp(reply.bytes + 12, "\xff\xfe\xfd\xfc\xfb\xfa", MODEL_BYTES) == 0);
  free_handle(array[0], kTVMNDArrayHandle);
  expect_void();
  free_handle(array[0], kTVMNDArrayHandle);
  EXPECT(replied_exception("error 0x0803"));
  copy_from(data[0], 0, 1);
  EXPECT(replied_exception(UNKNOWN_ADDRESS)); /* the host gave it back */

  /* A host that comes back finds everything as at the start. */
  static const uint8_t version = TVM_SESSION_VERSION;
  wire_out.size = 0;
  frame(0x17, kTVMSessionStartSessionInit, &version, 1);
  EXPECT(give(wire_out.bytes, wire_out.size) == kTvmErrorNoError);
  collect();
  session = (uint16_t)(reply.bytes[0] | (uint32_t)reply.bytes[1] << 8);
  EXPECT(live_blocks == before + EXECUTOR_BLOCKS);
  copy_from(data[1], 0, 1);
  EXPECT(replied_exception(UNKNOWN_ADDRESS));
  begin(kTVMRPCCallFunc);
  add_u64(create_executor);
  sequence(3, create);
  add_u64(library_handle);
  add_device();
  add_text("default");
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMModuleHandle);
}

/* Asks for an evaluator of a function. */
static void create_evaluator(uint64_t create, uint32_t count, const char* function, uint64_t number, uint64_t repeat,
                             uint64_t min_repeat_ms) {
  static const int types[] = {kTVMModuleHandle, kTVMStr, 0, 0, 0, 0, 0, 0, 0, 0, 0, kTVMStr};
  begin(kTVMRPCCallFunc);
  add_u64(create);
  sequence(count, types);
  add_u64(library_handle);
  add_text(function);
  const uint64_t numbers[] = {kDLCPU, 0, number, repeat, min_repeat_ms, 100, 0, 1, 0};
  for (uint32_t i = 0; i < 9u && i + 2u < count; ++i) {
    add_u64(numbers[i]);
  }
  if (count == 12u) {
    add_text("");
  }
  call();
}

static double replied_seconds(size_t index) {
  double seconds = 0;
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMBytes && reply_u64(32) >= 8u * (index + 1u));
  memcpy(&seconds, reply.bytes + 40u + 8u * index, sizeof(seconds));
  return seconds;
}

/* The clock says 0.25 s, 0.5 s, 1 s and so on. */
static void functions_are_timed(void) {
  start();
  uint64_t create = get_global("runtime.RPCTimeEvaluator");
  uint64_t in = allocate(MODEL_BYTES);
  uint64_t out = allocate(MODEL_BYTES);
  size_t before = live_blocks;
  create_evaluator(create, 11, "negate", 10, 1, 0);
  EXPECT(replied_exception("error 0x0800"));
  create_evaluator(create, 12, "no_such_function", 10, 1, 0);
  EXPECT(replied_exception("error 0x0100"));
  create_evaluator(create, 12, "negate", 0, 1, 0);
  EXPECT(replied_exception("error 0x0803"));
  create_evaluator(create, 12, "negate", 10, INT32_MAX / 8 + 1, 0); /* more results than 32 bits can address */
  EXPECT(replied_exception("error 0x0803"));
  create_evaluator(create, 12, "negate", 10, 3, 0);
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMPackedFuncHandle);
  uint64_t evaluator = reply_u64(32);
  EXPECT(evaluator >> 16 == 0xffffu);
  next_time = 0.25;
  calls_of_negate = 0;
  call_tensors(evaluator, in, out, MODEL_BYTES, INT8);
  EXPECT(reply_u64(32) == 24u && calls_of_negate == 31u); /* one unmeasured */
  EXPECT(replied_seconds(0) == 0.025 && replied_seconds(1) == 0.05 && replied_seconds(2) == 0.1);
  EXPECT(live_blocks == before);

  /* 0.25 s of 1 s wanted: 40 + 1 calls; then 0.5 s: 83; then 1 s, which is enough. The number stays. */
  create_evaluator(create, 12, "negate", 10, 2, 1000);
  uint64_t newer = reply_u64(32);
  next_time = 0.25;
  calls_of_negate = 0;
  call_tensors(newer, in, out, MODEL_BYTES, INT8);
  EXPECT(calls_of_negate == 1u + 10u + 41u + 83u + 83u);
  EXPECT(replied_seconds(0) == 1.0 / 83 && replied_seconds(1) == 2.0 / 83);
  call_tensors(evaluator, in, out, MODEL_BYTES, INT8);
  EXPECT(replied_exception("error 0x0900"));

  /* A clock that stands still ends after so many tries. */
  create_evaluator(create, 12, "negate", 1, 1, 1);
  newer = reply_u64(32);
  next_time = 0;
  calls_of_negate = 0;
  call_tensors(newer, in, out, MODEL_BYTES, INT8);
  EXPECT(calls_of_negate == 101u && replied_seconds(0) == 0);
  create_evaluator(create, 12, "boom", 1, 1, 0);
  newer = reply_u64(32);
  call_tensors(newer, in, out, MODEL_BYTES, INT8);
  EXPECT(replied_exception("boom"));
  EXPECT(live_blocks == before && timer_runs == 0);
}

/* What is timed may create another evaluator; the results still fit into the memory for them. */
static void an_evaluator_may_be_replaced_while_it_runs(void) {
  start();
  uint64_t create = get_global("runtime.RPCTimeEvaluator");
  uint64_t system_library = library_handle;
  library_handle = 0x8002u; /* the global functions */
  create_evaluator(create, 12, "runtime.RPCTimeEvaluator", 1, 1, 0);
  library_handle = system_library;
  create_evaluator(reply_u64(32), 12, "echo", 1, 1000, 0);
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMBytes && reply_u64(32) == 8u);
}

static void memory_is_filled_with_random_bytes(void) {
  static const int types[] = {kTVMDLTensorHandle};
  start();
  uint64_t fill = get_global("tvm.contrib.random.random_fill");
  uint64_t data = allocate(8);
  copy_to(data, 0, "12345678", 8);
  begin(kTVMRPCCallFunc);
  add_u64(fill);
  sequence(1, types);
  add_tensor(data, INT8, 4, 2);
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn);
  copy_from(data, 0, 8);
  EXPECT(memcmp(reply.bytes + 12, "12\xab\xab\xab\xab" "78", 8) == 0);
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
  a_session_begins_with_these_bytes();
  a_call_without_arguments_costs_at_most_150_bytes();
  functions_are_found_and_called();
  tensors_are_copied_in_blocks();
  other_addresses_are_refused();
  handles_that_lead_anywhere_are_refused();
  what_fails_is_told();
  values_come_back_as_they_were();
  system_calls_answer();
  too_much_memory_is_refused_and_little_can_be_freed();
  packets_that_are_cut_or_too_long_are_refused();
  the_executor_is_driven();
  functions_are_timed();
  an_evaluator_may_be_replaced_while_it_runs();
  memory_is_filled_with_random_bytes();
  messages_for_people_are_log_messages();
  the_host_ends_the_server();
  damage_on_the_line_is_dropped();
  forget_memory();
  return 0;
}
