/* SPDX-License-Identifier: Apache-2.0
 *
 * All of it is weak: a program may link several libraries that bring it, and has it once.
 */
#include <string.h>
#include <tvm/runtime/crt/stack_allocator.h>

#define WEAK __attribute__((weak))
#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)
#define TAG_SIZE ((size_t)STACK_ALLOCATOR_TAG_SIZE_BYTES)

#ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define CHECK_ORDER 1
#else
#define CHECK_ORDER 0
#endif

/* Fails to compile where the alignment is no power of two. */
typedef char alignment_is_a_power_of_two[(ALIGNMENT & (ALIGNMENT - 1u)) == 0u ? 1 : -1];

/* What lies behind a block: the tag XOR the sizes of both. */
static uint32_t tag_of(size_t size) {
  return STACK_ALLOCATOR_TAG ^ (uint32_t)(size & 0xffffffffu);
}

WEAK tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t* tvm_runtime_workspace,
                                        uint8_t* g_aot_memory, size_t workspace_size) {
  size_t size = g_aot_memory == NULL ? 0u : workspace_size;
  size_t excess = (uintptr_t)g_aot_memory & (ALIGNMENT - 1u);
  size_t offset = (ALIGNMENT - excess) & (ALIGNMENT - 1u);
  if (offset > size) {
    offset = size;
  }
  tvm_runtime_workspace->workspace = size == 0u ? NULL : g_aot_memory + offset;
  tvm_runtime_workspace->next_alloc = tvm_runtime_workspace->workspace;
  tvm_runtime_workspace->workspace_size = size - offset;
  return g_aot_memory == NULL ? kTvmErrorPlatformCheckFailure : kTvmErrorNoError;
}

WEAK tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t* tvm_runtime_workspace,
                                                 int32_t nbytes, void** current_alloc,
                                                 uint8_t do_lifo_check) {
  *current_alloc = NULL;
  if (nbytes < 0 || tvm_runtime_workspace->workspace == NULL) {
    return kTvmErrorPlatformNoMemory;
  }
  size_t used = (size_t)(tvm_runtime_workspace->next_alloc - tvm_runtime_workspace->workspace);
  size_t block_size = ((size_t)nbytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
  size_t taken = block_size + (do_lifo_check ? TAG_SIZE : 0u);
  if (block_size < (size_t)nbytes || taken > tvm_runtime_workspace->workspace_size - used) {
    return kTvmErrorPlatformNoMemory;
  }
  *current_alloc = tvm_runtime_workspace->next_alloc;
  tvm_runtime_workspace->next_alloc += taken;
  if (do_lifo_check) {
    uint32_t tag = tag_of(taken);
    memcpy(tvm_runtime_workspace->next_alloc - TAG_SIZE, &tag, sizeof(tag));
  }
  return kTvmErrorNoError;
}

WEAK tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t* tvm_runtime_workspace, void* ptr,
                                             uint8_t do_lifo_check) {
  /* Compared as numbers: order between pointers into different objects is undefined. */
  uintptr_t begin = (uintptr_t)tvm_runtime_workspace->workspace;
  uintptr_t end = (uintptr_t)tvm_runtime_workspace->next_alloc;
  uintptr_t block = (uintptr_t)ptr;
  if (ptr == NULL || block < begin || block > end) {
    return kTvmErrorPlatformStackAllocBadFree;
  }
  if (do_lifo_check) {
    uint32_t tag = 0;
    if (end - block < TAG_SIZE) {
      return kTvmErrorPlatformStackAllocBadFree;
    }
    memcpy(&tag, tvm_runtime_workspace->next_alloc - TAG_SIZE, sizeof(tag));
    if (tag != tag_of((size_t)(end - block))) {
      return kTvmErrorPlatformStackAllocBadFree;
    }
  } else if (((block - begin) & (ALIGNMENT - 1u)) != 0u) {
    return kTvmErrorPlatformStackAllocBadFree;
  }
  tvm_runtime_workspace->next_alloc = (uint8_t*)ptr;
  return kTvmErrorNoError;
}

WEAK tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t* tvm_runtime_workspace, int32_t nbytes,
                                            void** current_alloc) {
  return StackMemoryManager_Allocate_Body(tvm_runtime_workspace, nbytes, current_alloc,
                                          CHECK_ORDER);
}

WEAK tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t* tvm_runtime_workspace, void* ptr) {
  return StackMemoryManager_Free_Body(tvm_runtime_workspace, ptr, CHECK_ORDER);
}
