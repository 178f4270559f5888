/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is given back in the reverse order of taking it, from one static buffer:
 *
 *   workspace                next_alloc                    workspace + workspace_size
 *   | block 0 | block 1 | …  | free                        |
 *
 * The workspace begins at a multiple of TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES, and a block's size is rounded up to one. Where order is
 * checked, a tag follows each block, so that blocks but the first begin at multiples of 4 only.
 */
#ifndef TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_

#include <crt_config.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>

/* A crt_config.h of TVM's does not define it. */
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif

/* The 32 bits behind a block when order is checked: this XOR the sizes of block and tag. */
#define STACK_ALLOCATOR_TAG 0xabcd1234u
#define STACK_ALLOCATOR_TAG_SIZE_BYTES 4

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint8_t* next_alloc;
  uint8_t* workspace;
  size_t workspace_size;
} tvm_workspace_t;

/* Takes a buffer over, from its first multiple of TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES on; what lies before it is lost. A buffer without
 * one becomes a workspace of 0 bytes. So does NULL, with kTvmErrorPlatformCheckFailure. */
tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t* tvm_runtime_workspace,
                                        uint8_t* g_aot_memory, size_t workspace_size);

/* Takes a block of at least nbytes. kTvmErrorPlatformNoMemory if it does not fit or nbytes is negative; *current_alloc is NULL then. */
tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t* tvm_runtime_workspace, int32_t nbytes,
                                            void** current_alloc);

/* Gives the block taken last back. kTvmErrorPlatformStackAllocBadFree if ptr is no block, or, where order is checked, not the last. */
tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t* tvm_runtime_workspace, void* ptr);

/* The same, with the check of order switched on (1) or off (0) for the call. All calls on one workspace must agree. The two above take
 * it from TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK. */
tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t* tvm_runtime_workspace,
                                                 int32_t nbytes, void** current_alloc,
                                                 uint8_t do_lifo_check);
tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t* tvm_runtime_workspace, void* ptr,
                                             uint8_t do_lifo_check);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_ */
