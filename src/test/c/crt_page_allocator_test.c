/* SPDX-License-Identifier: Apache-2.0
 *
 * What microTVM's page allocator does, as its own test has it, and beyond. This file is C and C++, and runs on boards too.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/memory/page_allocator.h>
#include <tvm/runtime/crt/page_allocator.h>

#include "check.h"

#define LOG2 8
#define PAGE ((size_t)1 << LOG2)
#define POOL (128 * PAGE)

/* Of microTVM's test, where pointers have 64 and 32 bits. */
#define USABLE (sizeof(void*) == 8u ? 94u : 99u)
#define MOST 99

static uint8_t memory[POOL + PAGE] __attribute__((aligned(256)));
static uint8_t* pool = memory;
static MemoryManagerInterface* manager;
static const DLDevice cpu = {kDLCPU, 0};

static size_t max_pages(void) {
  return ((MemoryManager*)manager)->ptable.max_pages;
}

static void create(uint8_t* start, size_t size) {
  memset(memory, 0x5a, sizeof(memory));
  pool = start;
  EXPECT(PageMemoryManagerCreate(&manager, start, size, LOG2) == kTvmErrorNoError);
  EXPECT(manager->vleak_size == 0);
}

/* Takes a block, fills it, and returns the number of its first page. */
static size_t take(size_t bytes) {
  void* block = NULL;
  int before = manager->vleak_size;
  EXPECT(manager->Allocate(manager, bytes, cpu, &block) == kTvmErrorNoError);
  EXPECT(manager->vleak_size == before + 1);
  size_t offset = (size_t)((uint8_t*)block - pool);
  memset(block, 0xa5, bytes);
  EXPECT(offset % PAGE == 0u && offset + bytes <= max_pages() * PAGE);
  return offset / PAGE;
}

static void give(size_t page) {
  int before = manager->vleak_size;
  EXPECT(manager->Free(manager, pool + page * PAGE, cpu) == kTvmErrorNoError);
  EXPECT(manager->vleak_size == before - 1);
}

static void nothing_is_left_for(size_t bytes) {
  void* block = pool;
  int before = manager->vleak_size;
  EXPECT(manager->Allocate(manager, bytes, cpu, &block) == kTvmErrorPlatformNoMemory);
  EXPECT(block == NULL && manager->vleak_size == before);
}

/* MicroTVM's case: the first round comes in order, the second in the order of freeing. */
static void what_was_freed_first_is_taken_first(void) {
  size_t pages[MOST];
  create(memory, POOL);
  EXPECT(max_pages() == USABLE);
  for (size_t round = 0; round < 2; ++round) {
    for (size_t i = 0; i < USABLE; ++i) {
      pages[i] = take(1);
      EXPECT(pages[i] == (round == 0 ? i : USABLE - 1 - i));
    }
    nothing_is_left_for(1);
    for (size_t i = USABLE; i > 0; --i) {
      give(pages[i - 1]);
    }
  }
}

static void blocks_have_whole_pages(void) {
  create(memory, POOL);
  EXPECT(take(0) == 0 && take(PAGE) == 1 && take(PAGE + 1) == 2 && take(3 * PAGE - 1) == 4);
  EXPECT(take(1) == 7);
  nothing_is_left_for((USABLE - 8) * PAGE + 1);
  nothing_is_left_for(SIZE_MAX);
  EXPECT(take((USABLE - 8) * PAGE) == 8);
  nothing_is_left_for(0);
}

/* The smallest block that is large enough is taken whole, of equal ones the one freed first; then come fresh pages. */
static void the_best_free_block_is_taken_whole(void) {
  create(memory, POOL);
  EXPECT(take(4 * PAGE) == 0 && take(2 * PAGE) == 4 && take(1) == 6 && take(2 * PAGE) == 7 && take(1) == 9);
  give(7);
  give(0);
  give(4);
  EXPECT(take(1) == 7);
  EXPECT(take(2 * PAGE) == 4);
  EXPECT(take(PAGE + 1) == 0);
  EXPECT(take(1) == 10);
}

/* Where nothing fits, free neighbours become one block, of which only what is needed is taken. */
static void free_neighbours_join_when_nothing_fits(void) {
  create(memory, POOL);
  for (size_t i = 0; i < USABLE; ++i) {
    EXPECT(take(1) == i);
  }
  give(12);
  give(10);
  give(11);
  give(20);
  EXPECT(take(2 * PAGE) == 10);
  EXPECT(take(1) == 20 && take(1) == 12);
  nothing_is_left_for(1);
  for (size_t i = USABLE - 1; i > 20; --i) {
    give(i);
  }
  EXPECT(take((USABLE - 21) * PAGE) == 21);
  nothing_is_left_for(1);
}

static void everything_can_be_taken_again(void) {
  create(memory, POOL);
  for (size_t size = 1; size <= USABLE; ++size) {
    size_t blocks = USABLE / size;
    for (size_t i = 0; i < blocks; ++i) {
      (void)take(size * PAGE);
    }
    EXPECT(manager->vleak_size == (int)blocks);
    MemoryManager* inside = (MemoryManager*)manager;
    for (size_t i = 0; i < USABLE; ++i) {
      if (inside->ptable.page[i].num_pages != 0 && inside->ptable.page[i].next_free == TVM_PAGE_TAKEN) {
        give(i);
      }
    }
    EXPECT(manager->vleak_size == 0);
  }
}

static void pools_of_any_size_and_place_are_taken_or_refused(void) {
  size_t manager_size = sizeof(void*) == 8u ? 168u : 84u;
  size_t page_size = PAGE + (sizeof(void*) == 8u ? 88u : 72u);
  create(memory, manager_size + page_size);
  EXPECT(max_pages() == 1u);
  for (size_t size = 0; size < manager_size + page_size; ++size) {
    manager = (MemoryManagerInterface*)(void*)memory;
    EXPECT(PageMemoryManagerCreate(&manager, memory, size, LOG2) == kTvmErrorPlatformNoMemory);
    EXPECT(manager == NULL);
  }
  EXPECT(PageMemoryManagerCreate(&manager, NULL, POOL, LOG2) == kTvmErrorPlatformNoMemory);
  EXPECT(PageMemoryManagerCreate(&manager, memory, POOL, 3) == kTvmErrorPlatformCheckFailure);
  EXPECT(PageMemoryManagerCreate(&manager, memory, POOL, 8 * sizeof(size_t)) == kTvmErrorPlatformCheckFailure);
  EXPECT(PageMemoryManagerCreate(&manager, memory, POOL, 20) == kTvmErrorPlatformNoMemory);
  for (size_t begin = 1; begin < 16; ++begin) {
    create(memory + begin, POOL);
    pool = memory + 16;
    EXPECT(take(1) == 0 && take(1) == 1);
  }
}

/* Blocks of any size in any order never share a byte. */
static void blocks_never_overlap(void) {
  uint32_t state = 2463534242u;
  uint8_t* blocks[16] = {NULL};
  size_t sizes[16] = {0};
  create(memory, POOL);
  for (size_t step = 0; step < 3000; ++step) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    size_t k = state % 16u;
    if (blocks[k] == NULL) {
      void* block = NULL;
      sizes[k] = (state >> 8) % (12u * PAGE);
      if (manager->Allocate(manager, sizes[k], cpu, &block) == kTvmErrorNoError) {
        blocks[k] = (uint8_t*)block;
        memset(block, (int)k, sizes[k]);
      }
    } else {
      for (size_t i = 0; i < sizes[k]; ++i) {
        EXPECT(blocks[k][i] == k);
      }
      EXPECT(manager->Free(manager, blocks[k], cpu) == kTvmErrorNoError);
      blocks[k] = NULL;
    }
  }
}

int main(void) {
  what_was_freed_first_is_taken_first();
  blocks_have_whole_pages();
  the_best_free_block_is_taken_whole();
  free_neighbours_join_when_nothing_fits();
  everything_can_be_taken_again();
  pools_of_any_size_and_place_are_taken_or_refused();
  blocks_never_overlap();
  DONE("the page allocator does what it should");
  return 0;
}
