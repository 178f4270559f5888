/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutated conversations for the RPC server: rpc_fuzz <seed> <streams>. A stream is some recorded requests, cut, repeated, reordered,
 * flipped or with bytes inserted, on the line or inside packets whose CRC is right. The sanitizers watch memory; between the streams the
 * server must answer a good request rightly, and have given all memory back for a new session.
 */
#include <stdio.h>

#include "rpc_host.h"
#include "rpc_mutations.h"
#include "rpc_library.h"

#define MOST_RECORDED 32u
#define STREAMS_PER_SESSION 16u

struct request {
  uint8_t bytes[256];
  size_t size;
};

static struct request recorded[MOST_RECORDED];
static uint32_t recorded_count;

/* Calls, and keeps the request. */
static void call_recorded(void) {
  call();
  EXPECT(recorded_count < MOST_RECORDED && request.size <= sizeof(recorded[0].bytes));
  memcpy(recorded[recorded_count].bytes, request.bytes, request.size);
  recorded[recorded_count++].size = request.size;
}

static uint64_t record_global(const char* name) {
  static const int types[] = {kTVMStr};
  begin(kTVMRPCGetGlobalFunc);
  sequence(1, types);
  add_text(name);
  call_recorded();
  return replied_handle();
}

static uint64_t record_function(uint64_t look_up, uint64_t module, const char* name) {
  static const int types[] = {kTVMModuleHandle, kTVMStr, kTVMArgInt};
  begin(kTVMRPCCallFunc);
  add_u64(look_up);
  sequence(3, types);
  add_u64(module);
  add_text(name);
  add_u64(0);
  call_recorded();
  return reply_u64(32);
}

static uint64_t record_allocation(uint64_t bytes) {
  (void)allocate(bytes);
  memcpy(recorded[recorded_count].bytes, request.bytes, request.size);
  recorded[recorded_count++].size = request.size;
  return replied_handle();
}

static uint64_t input;
static uint64_t output;
static uint64_t negate_function;

/* A conversation of each kind of request. */
static void record(void) {
  static const int tensors[] = {kTVMDLTensorHandle, kTVMDLTensorHandle, kTVMOpaqueHandle};
  static const int create[] = {kTVMModuleHandle, kDLDevice, kTVMStr};
  static const int index[] = {kTVMArgInt};
  static const int many[] = {kTVMArgFloat, kTVMStr, kTVMBytes, kTVMDataType, kTVMNullptr, kDLDevice};
  static const int evaluator[] = {kTVMModuleHandle, kTVMStr, 0, 0, 0, 0, 0, 0, 0, 0, 0, kTVMStr};
  static const int free_types[] = {kTVMOpaqueHandle, kTVMArgInt};
  static const int free_data_types[] = {kDLDevice, kTVMOpaqueHandle};
  begin(kTVMRPCInitServer);
  add_text(TVM_RPC_PROTOCOL_VERSION);
  sequence(0, NULL);
  call_recorded();
  uint64_t system_library = record_global("runtime.SystemLib");
  uint64_t look_up = record_global("tvm.rpc.server.ModuleGetFunction");
  begin(kTVMRPCCallFunc);
  add_u64(system_library);
  sequence(0, NULL);
  call_recorded();
  negate_function = record_function(look_up, 0x8000u, "negate");
  uint64_t echo_function = record_function(look_up, 0x8000u, "echo");
  input = record_allocation(MODEL_BYTES);
  output = record_allocation(MODEL_BYTES);
  begin(kTVMRPCCopyToRemote);
  add_tensor(input, INT8, MODEL_BYTES, 0);
  add_u64(MODEL_BYTES);
  add("\x01\x02\xff\x04\x05\x06", MODEL_BYTES);
  call_recorded();
  begin(kTVMRPCCallFunc);
  add_u64(negate_function);
  sequence(2, tensors);
  add_tensor(input, INT8, MODEL_BYTES, 0);
  add_tensor(output, INT8, MODEL_BYTES, 0);
  call_recorded();
  begin(kTVMRPCCopyFromRemote);
  add_tensor(output, INT8, MODEL_BYTES, 0);
  add_u64(MODEL_BYTES);
  call_recorded();
  begin(kTVMRPCCopyAmongRemote);
  sequence(3, tensors);
  add_tensor(input, INT8, MODEL_BYTES, 0);
  add_tensor(output, INT8, MODEL_BYTES, 0);
  add_u64(0);
  call_recorded();
  begin(kTVMRPCCallFunc);
  add_u64(echo_function);
  sequence(6, many);
  add_u64(0x3ff0000000000000u);
  add_text("text");
  add_text("bytes");
  add_u64(INT8);
  add_device();
  call_recorded();
  begin(kTVMRPCCallFunc);
  add_u64(record_global("runtime.RPCTimeEvaluator"));
  sequence(12, evaluator);
  add_u64(0x8000u);
  add_text("negate");
  for (uint32_t i = 0; i < 9u; ++i) {
    add_u64(i == 0u ? 1u : 0u);
  }
  add_text("");
  call_recorded();
  begin(kTVMRPCCallFunc);
  add_u64(record_global("tvm.aot_executor.create"));
  request.size = 0;
  uint64_t create_function = get_global("tvm.aot_executor.create");
  begin(kTVMRPCCallFunc);
  add_u64(create_function);
  sequence(3, create);
  add_u64(0x8000u);
  add_device();
  add_text("default");
  call_recorded();
  uint64_t executor = reply_u64(32);
  uint64_t get_input = record_function(look_up, executor, "get_input");
  begin(kTVMRPCCallFunc);
  add_u64(get_input);
  sequence(1, index);
  add_u64(0);
  call_recorded();
  uint64_t array = reply_u64(reply.size - 8u);
  begin(kTVMRPCFreeHandle);
  sequence(2, free_types);
  add_u64(array);
  add_u64(kTVMNDArrayHandle);
  call_recorded();
  begin(kTVMRPCFreeHandle);
  sequence(2, free_types);
  add_u64(executor);
  add_u64(kTVMModuleHandle);
  call_recorded();
  begin(kTVMRPCDevFreeData);
  sequence(2, free_data_types);
  add_device();
  add_u64(output);
  call_recorded();
}

/* One stream: some requests in any order, changed inside or on the line or both. */
static void make_stream(void) {
  wire_out.size = 0;
  for (uint32_t count = 1u + draw(4); count > 0u; --count) {
    const struct request* one = &recorded[draw(recorded_count)];
    uint8_t bytes[2u * sizeof(one->bytes)];
    size_t size = one->size;
    memcpy(bytes, one->bytes, size);
    uint64_t length = size - 8u;
    if (draw(2) == 0u) {
      size = mutate(bytes, size, sizeof(bytes));
      length = size < 8u ? 0u : draw(8) == 0u ? draw(1000) : size - 8u;
    }
    for (size_t i = 0; i < 8u && i < size; ++i) {
      bytes[i] = (uint8_t)(length >> 8u * i & 0xffu);
    }
    uint16_t id = draw(16) == 0u ? (uint16_t)draw(65536) : session;
    frame(id, draw(16) == 0u ? (uint8_t)draw(20) : (uint8_t)kTVMSessionNormal, bytes, size);
  }
  if (draw(2) == 0u) {
    wire_out.size = mutate(wire_out.bytes, wire_out.size, sizeof(wire_out.bytes));
  }
}

/* Gives the stream in pieces. Returns whether the server still runs. */
static int give_stream(void) {
  for (size_t at = 0; at < wire_out.size;) {
    size_t piece = 1u + draw(draw(3) == 0u ? 3u : 200u);
    piece = piece < wire_out.size - at ? piece : wire_out.size - at;
    if (give(wire_out.bytes + at, piece) == kTvmErrorPlatformShutdown) {
      return 0;
    }
    at += piece;
  }
  return 1;
}

/* A session as a host that comes back starts it; whatever frame had begun is ended first. */
static void start_session(void) {
  static const uint8_t version = TVM_SESSION_VERSION;
  for (int attempt = 0; attempt < 2; ++attempt) {
    wire_out.size = 0;
    frame((uint16_t)(1u + draw(255)), kTVMSessionStartSessionInit, &version, 1);
    (void)give(wire_out.bytes, wire_out.size);
    if (attempt == 0) {
      from_server_size = 0;
    }
  }
  collect();
  EXPECT(replies == 1 && reply.bytes[2] == kTVMSessionStartSessionReply);
  session = (uint16_t)(reply.bytes[0] | (uint32_t)reply.bytes[1] << 8);
}

static void expect_right_answer(void) {
  uint64_t in = allocate(MODEL_BYTES);
  uint64_t out = allocate(MODEL_BYTES);
  static const int tensors[] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  copy_to(in, 0, "\x01\x02\xff\x04\x05\x06", MODEL_BYTES);
  expect_void();
  begin(kTVMRPCCallFunc);
  add_u64(negate_function);
  sequence(2, tensors);
  add_tensor(in, INT8, MODEL_BYTES, 0);
  add_tensor(out, INT8, MODEL_BYTES, 0);
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn);
  copy_from(out, 0, MODEL_BYTES);
  EXPECT(reply.size == 18u && memcmp(reply.bytes + 12, "\xff\xfe\x01\xfc\xfb\xfa", MODEL_BYTES) == 0);
  free_data(in);
  free_data(out);
  expect_void();
}

/* Records again, as addresses are other ones in every session. */
static void refresh(void) {
  start_session();
  recorded_count = 0;
  record();
}

int main(int argc, char** argv) {
  EXPECT(argc == 3);
  random_state = strtoull(argv[1], NULL, 10) | 1u;
  unsigned long streams = strtoul(argv[2], NULL, 10);
  connect_host();
  size_t at_start = live_blocks;
  refresh();
  for (unsigned long i = 1; i <= streams; ++i) {
    make_stream();
    if (!give_stream()) {
      connect_host();
      at_start = live_blocks;
      refresh();
    } else if (i % STREAMS_PER_SESSION == 0u) {
      from_server_size = 0;
      start_session();
      EXPECT(live_blocks <= at_start + EXECUTOR_BLOCKS);
      expect_right_answer();
      refresh();
    }
  }
  forget_memory();
  (void)printf("%lu streams, %u calls of a function\n", streams, (unsigned)calls_of_negate);
  return 0;
}
