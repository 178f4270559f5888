/* SPDX-License-Identifier: Apache-2.0
 *
 * The AOT executor, timers and random tensors of the RPC server, as a host drives them.
 */
#include "rpc_calls.h"

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

/* A graph's debug executor asks for the time of every node, also of those that do nothing. */
static void nothing_can_be_timed(void) {
  start();
  size_t before = live_blocks;
  uint64_t in = allocate(MODEL_BYTES);
  uint64_t out = allocate(MODEL_BYTES);
  create_evaluator(get_global("runtime.RPCTimeEvaluator"), 12, "__nop", 10, 2, 0);
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u64(24) == kTVMPackedFuncHandle);
  next_time = 0.25;
  calls_of_negate = 0;
  call_tensors(reply_u64(32), in, out, MODEL_BYTES, INT8);
  EXPECT(reply_u64(32) == 16u && replied_seconds(0) == 0.025 && replied_seconds(1) == 0.05);
  EXPECT(calls_of_negate == 0u);
  free_data(in);
  free_data(out);
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

int main(void) {
  the_executor_is_driven();
  functions_are_timed();
  nothing_can_be_timed();
  an_evaluator_may_be_replaced_while_it_runs();
  memory_is_filled_with_random_bytes();
  forget_memory();
  return 0;
}
