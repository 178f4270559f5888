/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that the host may use: what it allocated, and tensors that functions returned to it. Everything else is out of its reach.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_MEMORY_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_MEMORY_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMRPCBlock {
  struct TVMRPCBlock* next;
  uint8_t* data;
  size_t size;
  TVMArrayHandle array; /* whose data it is; NULL if the host allocated it */
  uint32_t references;  /* how often the host was given the array */
  uint32_t stale;       /* how often it was given it before the module of the array was freed */
} TVMRPCBlock;

typedef struct {
  TVMRPCBlock* blocks;
} TVMRPCMemory;

/* Bytes of a tensor. False if the shape has negative dimensions or is too large for an address space. */
bool TVMRPCMemory_TensorBytes(const DLTensor* tensor, uint64_t* bytes);

/* Allocates memory for the host. */
tvm_crt_error_t TVMRPCMemory_Allocate(TVMRPCMemory* memory, DLDevice device, uint64_t num_bytes,
                                      void** data);

/* Frees what the host allocated. kTvmErrorFunctionCallInvalidArg for any other address. */
tvm_crt_error_t TVMRPCMemory_Free(TVMRPCMemory* memory, DLDevice device, const void* data);

/* Lets the host use an array that it is given; the reference becomes the host's. If that fails, the reference is gone. */
tvm_crt_error_t TVMRPCMemory_Hold(TVMRPCMemory* memory, TVMArrayHandle array);

/* Takes the memory of all arrays back, because a module was freed. The host may still give its references back. */
void TVMRPCMemory_Forget(TVMRPCMemory* memory);

/* Takes a reference back. kTvmErrorFunctionCallInvalidArg if the host has none. */
tvm_crt_error_t TVMRPCMemory_Release(TVMRPCMemory* memory, const void* array);

/* Whether num_bytes bytes from address + byte_offset on, and all before them from address on, are the host's. No bytes always are. */
bool TVMRPCMemory_Contains(const TVMRPCMemory* memory, uint64_t address, uint64_t byte_offset,
                           uint64_t num_bytes);

/* Takes everything back. */
void TVMRPCMemory_Clear(TVMRPCMemory* memory);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_MEMORY_H_ */
