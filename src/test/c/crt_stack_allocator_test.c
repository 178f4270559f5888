/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "check.h"

#define SIZE 256

/* One byte more than the workspace, for the unaligned one. */
static uint8_t memory[SIZE + 1] __attribute__((aligned(16)));
static tvm_workspace_t workspace;

static void init(void) {
  EXPECT(StackMemoryManager_Init(&workspace, memory, SIZE) == kTvmErrorNoError);
}

static void* take(int32_t bytes, uint8_t check) {
  void* block = NULL;
  EXPECT(StackMemoryManager_Allocate_Body(&workspace, bytes, &block, check) == kTvmErrorNoError);
  EXPECT(((uintptr_t)block & 15u) == 0u);
  if (bytes > 0) {
    memset(block, 0x5a, (size_t)bytes);
  }
  return block;
}

static void blocks_are_aligned_and_stacked(void) {
  init();
  uint8_t* first = take(1, 0);
  uint8_t* second = take(17, 0);
  uint8_t* third = take(16, 0);
  EXPECT(first == memory && second == memory + 16 && third == memory + 48);
  EXPECT(StackMemoryManager_Free_Body(&workspace, third, 0) == kTvmErrorNoError);
  EXPECT(take(100, 0) == third);
}

static void the_whole_workspace_can_be_taken_and_no_more(void) {
  void* block = memory;
  init();
  EXPECT(take(SIZE, 0) == memory);
  EXPECT(StackMemoryManager_Allocate(&workspace, 1, &block) == kTvmErrorPlatformNoMemory);
  EXPECT(block == NULL);
  init();
  EXPECT(StackMemoryManager_Allocate(&workspace, SIZE + 1, &block) == kTvmErrorPlatformNoMemory);
  EXPECT(StackMemoryManager_Allocate(&workspace, INT32_MAX, &block) == kTvmErrorPlatformNoMemory);
  EXPECT(StackMemoryManager_Allocate(&workspace, -1, &block) == kTvmErrorPlatformNoMemory);
}

static void an_unaligned_workspace_is_refused(void) {
  EXPECT(StackMemoryManager_Init(&workspace, memory + 1, SIZE) == kTvmErrorPlatformCheckFailure);
  EXPECT(StackMemoryManager_Init(&workspace, NULL, SIZE) == kTvmErrorPlatformCheckFailure);
}

static void what_is_no_block_is_not_freed(void) {
  init();
  uint8_t* block = take(32, 0);
  EXPECT(StackMemoryManager_Free(&workspace, block + 1) == kTvmErrorPlatformStackAllocBadFree);
  EXPECT(StackMemoryManager_Free(&workspace, memory + 64) == kTvmErrorPlatformStackAllocBadFree);
  EXPECT(StackMemoryManager_Free(&workspace, &workspace) == kTvmErrorPlatformStackAllocBadFree);
  EXPECT(StackMemoryManager_Free(&workspace, NULL) == kTvmErrorPlatformStackAllocBadFree);
  EXPECT(StackMemoryManager_Free(&workspace, block) == kTvmErrorNoError);
}

static void the_check_of_order_notices_what_is_freed_early(void) {
  init();
  void* first = take(5, 1);
  void* second = take(12, 1);
  void* third = take(13, 1);
  EXPECT((uint8_t*)third - (uint8_t*)second == 16);
  EXPECT(StackMemoryManager_Free_Body(&workspace, first, 1) == kTvmErrorPlatformStackAllocBadFree);
  EXPECT(StackMemoryManager_Free_Body(&workspace, third, 1) == kTvmErrorNoError);
  EXPECT(StackMemoryManager_Free_Body(&workspace, second, 1) == kTvmErrorNoError);
  EXPECT(StackMemoryManager_Free_Body(&workspace, first, 1) == kTvmErrorNoError);
  EXPECT(StackMemoryManager_Free_Body(&workspace, first, 1) == kTvmErrorPlatformStackAllocBadFree);
}

int main(void) {
  blocks_are_aligned_and_stacked();
  the_whole_workspace_can_be_taken_and_no_more();
  an_unaligned_workspace_is_refused();
  what_is_no_block_is_not_freed();
  the_check_of_order_notices_what_is_freed_early();
  return 0;
}
