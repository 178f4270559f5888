/* SPDX-License-Identifier: Apache-2.0
 *
 * The RPC server on this computer, over the bytes that a host would send.
 */
#include "rpc_calls.h"

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

/* Hosts of TVM 0.18 ask with a bool, code 15 and eight bytes; hosts of 0.16 with an integer. */
static void a_host_of_0_18_finds_functions_too(void) {
  static const int types[] = {kTVMModuleHandle, kTVMStr, kTVMArgBool};
  static const int few[] = {kTVMModuleHandle, kTVMStr};
  static const int wrong[] = {kTVMModuleHandle, kTVMStr, kTVMArgFloat};
  start();
  uint64_t look_up = get_global("tvm.rpc.server.ModuleGetFunction");
  begin(kTVMRPCCallFunc);
  add_u64(look_up);
  sequence(3, types);
  add_u64(library_handle);
  add_text("negate");
  add_u64(0);
  call();
  replied_bytes("20 00 00 00 00 00 00 00 04 00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 0A 00 00 00 00 00 00 00 "
                "00 80 00 80 00 00 00 00");
  begin(kTVMRPCCallFunc);
  add_u64(look_up);
  sequence(2, few);
  add_u64(library_handle);
  add_text("negate");
  call();
  EXPECT(replied_exception("ModuleGetFunction: expected 3 arguments*"));
  begin(kTVMRPCCallFunc);
  add_u64(look_up);
  sequence(3, wrong);
  add_u64(library_handle);
  add_text("negate");
  add_u64(0);
  call();
  EXPECT(replied_exception("ModuleGetFunction: expected a module, a string, and an integer or bool*"));
}

static void a_bool_comes_back_as_one(void) {
  static const int types[] = {kTVMArgBool};
  start();
  uint64_t function = function_of(library_handle, "echo");
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(1, types);
  add_u64(1);
  call();
  replied_bytes("20 00 00 00 00 00 00 00 04 00 00 00 02 00 00 00 00 00 00 00 0F 00 00 00 0F 00 00 00 00 00 00 00 "
                "01 00 00 00 00 00 00 00");
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
  static const int types[] = {kTVMArgInt, kTVMArgBool, kTVMArgFloat, kTVMNullptr, kTVMDataType, kDLDevice, kTVMStr,
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

int main(void) {
  a_session_begins_with_these_bytes();
  a_call_without_arguments_costs_at_most_150_bytes();
  functions_are_found_and_called();
  a_host_of_0_18_finds_functions_too();
  a_bool_comes_back_as_one();
  tensors_are_copied_in_blocks();
  other_addresses_are_refused();
  handles_that_lead_anywhere_are_refused();
  what_fails_is_told();
  values_come_back_as_they_were();
  forget_memory();
  return 0;
}
