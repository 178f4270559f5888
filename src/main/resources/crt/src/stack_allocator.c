/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/stack_allocator.h>

#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)

#ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define CHECK_ORDER 1
#else
#define CHECK_ORDER 0
#endif

/* Fails to compile where the alignment is no power of two. */
typedef char alignment_is_a_power_of_two[(ALIGNMENT & (ALIGNMENT - 1u)) == 0u ? 1 : -1];

static int is_aligned(const void* ptr) {
  return ((uintptr_t)ptr & (ALIGNMENT - 1u)) == 0u;
}

/* What a block's last bytes hold. Sizes above 32 bits lose their upper part, which a check of order can do without. */
static uint32_t tag_of(size_t block_size) {
  return STACK_ALLOCATOR_TAG ^ (uint32_t)(block_size & 0xffffffffu);
}

tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t* tvm_runtime_workspace,
                                        uint8_t* g_aot_memory, size_t workspace_size) {
  if (g_aot_memory == NULL || !is_aligned(g_aot_memory)) {
    return kTvmErrorPlatformCheckFailure;
  }
  tvm_runtime_workspace->next_alloc = g_aot_memory;
  tvm_runtime_workspace->workspace = g_aot_memory;
  tvm_runtime_workspace->workspace_size = workspace_size;
  return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t* tvm_runtime_workspace,
                                                 int32_t nbytes, void** current_alloc,
                                                 uint8_t do_lifo_check) {
  *current_alloc = NULL;
  if (nbytes < 0) {
    return kTvmErrorPlatformNoMemory;
  }
  size_t used = (size_t)(tvm_runtime_workspace->next_alloc - tvm_runtime_workspace->workspace);
  size_t wanted = (size_t)nbytes + (do_lifo_check ? STACK_ALLOCATOR_TAG_SIZE_BYTES : 0u);
  size_t block_size = (wanted + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
  if (block_size < wanted || block_size > tvm_runtime_workspace->workspace_size - used) {
    return kTvmErrorPlatformNoMemory;
  }
  *current_alloc = tvm_runtime_workspace->next_alloc;
  tvm_runtime_workspace->next_alloc += block_size;
  if (do_lifo_check) {
    uint32_t tag = tag_of(block_size);
    memcpy(tvm_runtime_workspace->next_alloc - STACK_ALLOCATOR_TAG_SIZE_BYTES, &tag, sizeof(tag));
  }
  return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t* tvm_runtime_workspace, void* ptr,
                                             uint8_t do_lifo_check) {
  /* Compared as numbers: order between pointers into different objects is undefined. */
  uintptr_t begin = (uintptr_t)tvm_runtime_workspace->workspace;
  uintptr_t end = (uintptr_t)tvm_runtime_workspace->next_alloc;
  uintptr_t block = (uintptr_t)ptr;
  if (block < begin || block > end || !is_aligned(ptr)) {
    return kTvmErrorPlatformStackAllocBadFree;
  }
  if (do_lifo_check) {
    uint32_t tag = 0;
    if (end - block < STACK_ALLOCATOR_TAG_SIZE_BYTES) {
      return kTvmErrorPlatformStackAllocBadFree;
    }
    memcpy(&tag, tvm_runtime_workspace->next_alloc - STACK_ALLOCATOR_TAG_SIZE_BYTES, sizeof(tag));
    if (tag != tag_of((size_t)(end - block))) {
      return kTvmErrorPlatformStackAllocBadFree;
    }
  }
  tvm_runtime_workspace->next_alloc = (uint8_t*)ptr;
  return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t* tvm_runtime_workspace, int32_t nbytes,
                                            void** current_alloc) {
  return StackMemoryManager_Allocate_Body(tvm_runtime_workspace, nbytes, current_alloc,
                                          CHECK_ORDER);
}

tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t* tvm_runtime_workspace, void* ptr) {
  return StackMemoryManager_Free_Body(tvm_runtime_workspace, ptr, CHECK_ORDER);
}
