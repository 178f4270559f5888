/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads packets. Strings, bytes and shapes stay where they are in the packet if they can.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_ARGUMENTS_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_ARGUMENTS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_memory.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reference.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is left of a packet. */
typedef struct {
  uint8_t* data;
  size_t size;
} TVMRPCReader;

/* The next bytes, or NULL if there are fewer. */
uint8_t* TVMRPCReader_Take(TVMRPCReader* reader, uint64_t num_bytes);

/* The next number. False if the packet ends before. */
bool TVMRPCReader_U32(TVMRPCReader* reader, uint32_t* value);
bool TVMRPCReader_U64(TVMRPCReader* reader, uint64_t* value);

/* Reads the fields of a tensor before its shape and its byte offset behind it; skips the shape, which may be unaligned, and tells where
 * it is. */
TVMRPCStatus TVMRPCReader_Tensor(TVMRPCReader* reader, DLTensor* tensor, uint64_t* address,
                                 const uint8_t** shape);

/* Bytes of a few arguments, which need no memory of the heap: a host can give memory back when there is none left. */
#define TVM_RPC_SMALL_ARGUMENT_WORDS 24u

typedef struct {
  TVMValue* values;
  int* type_codes;
  int count;
  void* memory; /* from TVMPlatformMemoryAllocate, or NULL */
  uint64_t small[TVM_RPC_SMALL_ARGUMENT_WORDS];
} TVMRPCArguments;

/* Reads a packed sequence, which must be the rest of the packet.
 *
 * for_function: the arguments go to a function, which will use tensors and handles as they are. Tensors must lie in memory then, and
 * handles that lead anywhere are refused. */
TVMRPCStatus TVMRPCArguments_Read(TVMRPCArguments* arguments, TVMRPCReader* reader,
                                  const TVMRPCMemory* memory, bool for_function);

/* Frees what TVMRPCArguments_Read allocated, whatever it returned. */
void TVMRPCArguments_Free(TVMRPCArguments* arguments);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_ARGUMENTS_H_ */
