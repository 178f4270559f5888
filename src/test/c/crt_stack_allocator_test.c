/* SPDX-License-Identifier: Apache-2.0
 *
 * What microTVM's stack allocator does and what programs for it rely on. This file is C and C++, and runs on boards too.
 */
#include <string.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "check.h"

#define ALIGNMENT TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TAG STACK_ALLOCATOR_TAG_SIZE_BYTES
#define SIZE (16 * ALIGNMENT)

#ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define BEHIND TAG
#else
#define BEHIND 0
#endif

/* Room for a workspace that begins anywhere. */
static uint8_t memory[SIZE + ALIGNMENT] __attribute__((aligned(TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)));
static tvm_workspace_t workspace;

static void init(uint8_t* pool, size_t size) {
  EXPECT(StackMemoryManager_Init(&workspace, pool, size) == kTvmErrorNoError);
}

static uint8_t* take(int32_t bytes, uint8_t check) {
  void* block = NULL;
  EXPECT(StackMemoryManager_Allocate_Body(&workspace, bytes, &block, check) == kTvmErrorNoError);
  if (bytes > 0) {
    memset(block, 0x5a, (size_t)bytes);
  }
  return (uint8_t*)block;
}

static void nothing_is_left_for(int32_t bytes, uint8_t check) {
  uint8_t* before = workspace.next_alloc;
  void* block = memory;
  EXPECT(StackMemoryManager_Allocate_Body(&workspace, bytes, &block, check) == kTvmErrorPlatformNoMemory);
  EXPECT(block == NULL && workspace.next_alloc == before);
}

static void is_freed(void* block, uint8_t check) {
  EXPECT(StackMemoryManager_Free_Body(&workspace, block, check) == kTvmErrorNoError);
  EXPECT(workspace.next_alloc == block);
}

static void is_not_freed(void* block, uint8_t check) {
  uint8_t* before = workspace.next_alloc;
  EXPECT(StackMemoryManager_Free_Body(&workspace, block, check) == kTvmErrorPlatformStackAllocBadFree);
  EXPECT(workspace.next_alloc == before);
}

static uint32_t tag_behind(const uint8_t* block, size_t size) {
  uint32_t tag = 0;
  memcpy(&tag, block + size, sizeof(tag));
  return tag;
}

/* MicroTVM's five cases, with its pools and blocks where blocks are aligned to 16 bytes. */
static void the_cases_of_microtvm_hold(void) {
  init(memory, 8 * ALIGNMENT);
  EXPECT(take(1, 1) == memory);
  EXPECT(take(2, 1) == memory + ALIGNMENT + TAG);
  EXPECT(take(3 * ALIGNMENT / 2, 1) == memory + 2 * (ALIGNMENT + TAG));
  EXPECT(take(1, 1) == memory + 4 * ALIGNMENT + 3 * TAG);

  init(memory, 5 * ALIGNMENT);
  EXPECT(take(1, 1) == memory);
  uint8_t* block = take(1, 1);
  EXPECT(block == memory + ALIGNMENT + TAG);
  is_freed(block, 1);
  EXPECT(take(2, 1) == block);
  is_freed(block, 1);
  EXPECT(take(1, 1) == block);

  init(memory, 5 * ALIGNMENT);
  EXPECT(take(1, 1) == memory);
  EXPECT(take(1, 1) == memory + ALIGNMENT + TAG);
  nothing_is_left_for(4 * ALIGNMENT, 1);

  init(memory, 5 * ALIGNMENT);
  EXPECT(take(1, 1) == memory);
  EXPECT(take(1, 1) == memory + ALIGNMENT + TAG);
  is_not_freed(memory, 1);

  init(memory + 1, 5 * ALIGNMENT - 1);
  EXPECT(workspace.next_alloc == memory + ALIGNMENT && workspace.workspace_size == 4 * ALIGNMENT);
}

/* From a pool that begins anywhere, with blocks that are no multiples. */
static void blocks_are_rounded_up_and_follow_each_other(void) {
  for (size_t begin = 0; begin < ALIGNMENT; ++begin) {
    size_t lost = begin == 0 ? 0 : ALIGNMENT - begin;
    uint8_t* start = memory + begin + lost;
    init(memory + begin, SIZE);
    EXPECT(workspace.workspace == start && workspace.next_alloc == start);
    EXPECT(workspace.workspace_size == SIZE - lost);
    EXPECT(take(1, 0) == start);
    EXPECT(take(2 * ALIGNMENT, 0) == start + ALIGNMENT);
    EXPECT(take(2 * ALIGNMENT - 1, 0) == start + 3 * ALIGNMENT);
    EXPECT(take(0, 0) == start + 5 * ALIGNMENT);
    EXPECT(workspace.next_alloc == start + 5 * ALIGNMENT);
  }
}

static void what_was_freed_is_taken_again(void) {
  init(memory + 1, SIZE);
  uint8_t* first = take(1, 0);
  uint8_t* second = take(1, 0);
  EXPECT(second == first + ALIGNMENT);
  is_freed(second, 0);
  EXPECT(take(2 * ALIGNMENT, 0) == second);
  is_freed(second, 0);
  is_freed(first, 0);
  EXPECT(take(5 * ALIGNMENT, 0) == first);
}

static void the_whole_workspace_can_be_taken_and_no_more(void) {
  init(memory, 5 * ALIGNMENT);
  EXPECT(take(1, 0) == memory);
  nothing_is_left_for(5 * ALIGNMENT, 0);
  nothing_is_left_for(4 * ALIGNMENT + 1, 0);
  EXPECT(take(4 * ALIGNMENT, 0) == memory + ALIGNMENT);
  nothing_is_left_for(1, 0);
  EXPECT(take(0, 0) == memory + 5 * ALIGNMENT);
  nothing_is_left_for(INT32_MAX, 0);
  nothing_is_left_for(INT32_MAX, 1);
  nothing_is_left_for(-1, 0);
  nothing_is_left_for(INT32_MIN, 1);
}

static void pools_of_any_size_are_taken(void) {
  init(memory, 2 * ALIGNMENT + 3);
  EXPECT(workspace.workspace_size == 2 * ALIGNMENT + 3);
  nothing_is_left_for(2 * ALIGNMENT + 1, 0);
  EXPECT(take(2 * ALIGNMENT, 0) == memory);
  for (size_t size = 0; size < ALIGNMENT; ++size) {
    init(memory + 1, size);
    EXPECT(workspace.workspace_size == 0);
    nothing_is_left_for(1, 0);
  }
  EXPECT(StackMemoryManager_Init(&workspace, NULL, SIZE) == kTvmErrorPlatformCheckFailure);
  EXPECT(workspace.workspace_size == 0);
  nothing_is_left_for(0, 0);
  nothing_is_left_for(1, 0);
}

static void what_is_no_block_is_not_freed(void) {
  init(memory, SIZE);
  uint8_t* block = take(32, 0);
  is_not_freed(block + 1, 0);
  is_not_freed(workspace.next_alloc + ALIGNMENT, 0);
  is_not_freed(&workspace, 0);
  is_not_freed(NULL, 0);
  is_not_freed(NULL, 1);
  is_freed(block, 0);
}

/* The tag lies behind the block's rounded size and counts itself. */
static void a_tag_follows_each_block_where_order_is_checked(void) {
  init(memory + 1, SIZE);
  uint8_t* first = take(1, 1);
  uint8_t* second = take(2 * ALIGNMENT, 1);
  uint8_t* third = take(0, 1);
  EXPECT(first == memory + ALIGNMENT && second == first + ALIGNMENT + TAG);
  EXPECT(third == second + 2 * ALIGNMENT + TAG && workspace.next_alloc == third + TAG);
  EXPECT(tag_behind(first, ALIGNMENT) == (STACK_ALLOCATOR_TAG ^ (ALIGNMENT + TAG)));
  EXPECT(tag_behind(second, 2 * ALIGNMENT) == (STACK_ALLOCATOR_TAG ^ (2 * ALIGNMENT + TAG)));
  EXPECT(tag_behind(third, 0) == (STACK_ALLOCATOR_TAG ^ TAG));
}

static void the_check_of_order_notices_what_is_freed_early(void) {
  init(memory, SIZE);
  uint8_t* first = take(5, 1);
  uint8_t* second = take(12, 1);
  uint8_t* third = take(13, 1);
  is_not_freed(first, 1);
  is_not_freed(second, 1);
  is_freed(third, 1);
  is_not_freed(third, 1);
  is_not_freed(first, 1);
  is_freed(second, 1);
  EXPECT(take(3 * ALIGNMENT, 1) == second);
  is_freed(second, 1);
  is_freed(first, 1);
  is_not_freed(first, 1);
}

static void the_tag_needs_its_place(void) {
  init(memory, ALIGNMENT + TAG - 1);
  nothing_is_left_for(1, 1);
  init(memory, ALIGNMENT + TAG);
  EXPECT(take(ALIGNMENT, 1) == memory);
  nothing_is_left_for(0, 1);
}

/* Without the check any earlier block may be freed, with all behind it. */
static void the_check_is_a_setting(void) {
  void* first = NULL;
  void* second = NULL;
  init(memory, SIZE);
  EXPECT(StackMemoryManager_Allocate(&workspace, 1, &first) == kTvmErrorNoError);
  EXPECT(StackMemoryManager_Allocate(&workspace, 1, &second) == kTvmErrorNoError);
  EXPECT((uint8_t*)second - (uint8_t*)first == ALIGNMENT + BEHIND);
  EXPECT(StackMemoryManager_Free(&workspace, first) ==
         (BEHIND == 0 ? kTvmErrorNoError : kTvmErrorPlatformStackAllocBadFree));
}

int main(void) {
  the_cases_of_microtvm_hold();
  blocks_are_rounded_up_and_follow_each_other();
  what_was_freed_is_taken_again();
  the_whole_workspace_can_be_taken_and_no_more();
  pools_of_any_size_are_taken();
  what_is_no_block_is_not_freed();
  a_tag_follows_each_block_where_order_is_checked();
  the_check_of_order_notices_what_is_freed_early();
  the_tag_needs_its_place();
  the_check_is_a_setting();
  DONE("the stack allocator does what it should");
  return 0;
}
