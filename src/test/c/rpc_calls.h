/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the RPC server's functions, for the tests of it.
 */
#ifndef RPC_CALLS_H_
#define RPC_CALLS_H_

#include <stdio.h>
#include <tvm/runtime/crt/logging.h>

#include "rpc_host.h"
#include "rpc_library.h"
#include "rpc_wire.h"

#define UNKNOWN_ADDRESS "address outside the memory that the server allocated"

static uint64_t library_handle;

/* Calls a function without arguments and returns the reply's value; its type code must be as expected. */
static inline uint64_t call_plain(uint64_t function, uint64_t type_code) {
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(0, NULL);
  call();
  EXPECT(reply_u32(8) == kTVMRPCReturn && reply_u32(12) == 2 && reply_u64(24) == type_code);
  return type_code == kTVMNullptr ? 0u : reply_u64(32);
}

static inline uint64_t function_of(uint64_t module, const char* name) {
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
static inline void start(void) {
  connect_host();
  library_handle = call_plain(get_global("runtime.SystemLib"), kTVMModuleHandle);
}

/* Begins a call with one or two tensors. */
static inline void call_tensors(uint64_t function, uint64_t first, uint64_t second, int64_t elements, uint32_t type) {
  static const int types[] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  begin(kTVMRPCCallFunc);
  add_u64(function);
  sequence(2, types);
  add_tensor(first, type, elements, 0);
  add_tensor(second, type, elements, 0);
  call();
}

static inline void replied_bytes(const char* hex) {
  uint8_t bytes[HOST_MOST];
  size_t size = wire_hex(hex, bytes);
  EXPECT(reply.size == size && memcmp(reply.bytes, bytes, size) == 0);
}

static inline void give_hex(const char* hex) {
  uint8_t bytes[HOST_MOST];
  EXPECT(give(bytes, wire_hex(hex, bytes)) == kTvmErrorNoError);
}

static inline void written(const char* hex) {
  uint8_t bytes[HOST_MOST];
  size_t size = wire_hex(hex, bytes);
  EXPECT(from_server_size == size && memcmp(from_server, bytes, size) == 0);
  from_server_size = 0;
}

#endif
