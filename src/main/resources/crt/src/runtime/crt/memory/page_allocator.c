/* SPDX-License-Identifier: Apache-2.0 */
#include <tvm/runtime/crt/internal/memory/page_allocator.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/platform.h>

#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif
#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)

/* What microTVM takes for the manager and for a page beside its bytes, where 64-bit integers are aligned to pointers. */
#define MANAGER_SIZE (sizeof(void*) == 8u ? 168u : 84u)
#define BOOKKEEPING_SIZE (sizeof(void*) == 8u ? 88u : 72u)

/* Fails to compile where the bookkeeping does not fit into what is left for it. */
typedef char manager_fits[sizeof(MemoryManager) <= MANAGER_SIZE ? 1 : -1];
typedef char page_fits[sizeof(Page) <= BOOKKEEPING_SIZE ? 1 : -1];

/* Puts a block into the list of free ones, behind those that are not larger. */
static void put_free(MemoryManager* mgr, uint32_t begin) {
  Page* page = mgr->ptable.page;
  uint32_t* link = &mgr->first_free;
  while (*link != TVM_PAGE_NONE && page[*link].num_pages <= page[begin].num_pages) {
    link = &page[*link].next_free;
  }
  page[begin].next_free = *link;
  *link = begin;
}

/* Takes the first free block that is large enough out of the list. */
static uint32_t take_free(MemoryManager* mgr, size_t pages) {
  Page* page = mgr->ptable.page;
  uint32_t* link = &mgr->first_free;
  while (*link != TVM_PAGE_NONE && page[*link].num_pages < pages) {
    link = &page[*link].next_free;
  }
  uint32_t begin = *link;
  if (begin != TVM_PAGE_NONE) {
    *link = page[begin].next_free;
    page[begin].next_free = TVM_PAGE_TAKEN;
  }
  return begin;
}

static uint32_t take_fresh(PageTable* table, size_t pages) {
  if (pages > table->max_pages - table->num_pages) {
    return TVM_PAGE_NONE;
  }
  uint32_t begin = (uint32_t)table->num_pages;
  table->page[begin].num_pages = (uint32_t)pages;
  table->page[begin].next_free = TVM_PAGE_TAKEN;
  table->num_pages += pages;
  return begin;
}

/* Makes one block of free ones that follow each other; the last pages become fresh again. */
static void join_free(MemoryManager* mgr) {
  PageTable* table = &mgr->ptable;
  uint32_t end = 0;
  mgr->first_free = TVM_PAGE_NONE;
  for (uint32_t begin = 0; begin < table->num_pages; begin = end) {
    Page* block = &table->page[begin];
    end = begin + block->num_pages;
    if (block->next_free == TVM_PAGE_TAKEN) {
      continue;
    }
    while (end < table->num_pages && table->page[end].next_free != TVM_PAGE_TAKEN) {
      uint32_t more = table->page[end].num_pages;
      table->page[end].num_pages = 0;
      end += more;
    }
    block->num_pages = end - begin;
    if (end == table->num_pages) {
      block->num_pages = 0;
      table->num_pages = begin;
    } else {
      put_free(mgr, begin);
    }
  }
}

/* Takes what is needed of a joined block and leaves the rest free. */
static uint32_t take_joined(MemoryManager* mgr, size_t pages) {
  uint32_t begin = take_free(mgr, pages);
  if (begin == TVM_PAGE_NONE) {
    return take_fresh(&mgr->ptable, pages);
  }
  Page* page = mgr->ptable.page;
  uint32_t rest = page[begin].num_pages - (uint32_t)pages;
  if (rest > 0u) {
    page[begin].num_pages = (uint32_t)pages;
    page[begin + pages].num_pages = rest;
    put_free(mgr, begin + (uint32_t)pages);
  }
  return begin;
}

static tvm_crt_error_t allocate(MemoryManagerInterface* manager, size_t num_bytes, DLDevice dev,
                                void** out_ptr) {
  MemoryManager* mgr = (MemoryManager*)manager;
  PageTable* table = &mgr->ptable;
  size_t pages = num_bytes / table->page_size_bytes + (num_bytes % table->page_size_bytes != 0u);
  (void)dev;
  if (pages == 0u) {
    pages = 1;
  }
  *out_ptr = NULL;
  uint32_t begin = take_free(mgr, pages);
  if (begin == TVM_PAGE_NONE) {
    begin = take_fresh(table, pages);
  }
  if (begin == TVM_PAGE_NONE) {
    join_free(mgr);
    begin = take_joined(mgr, pages);
  }
  if (begin == TVM_PAGE_NONE) {
    return kTvmErrorPlatformNoMemory;
  }
  *out_ptr = table->memory_pool + begin * table->page_size_bytes;
  ++manager->vleak_size;
  return kTvmErrorNoError;
}

static tvm_crt_error_t give_back(MemoryManagerInterface* manager, void* ptr, DLDevice dev) {
  MemoryManager* mgr = (MemoryManager*)manager;
  PageTable* table = &mgr->ptable;
  /* Of a pointer before the pool this is beyond all pages. */
  uintptr_t offset = (uintptr_t)ptr - (uintptr_t)table->memory_pool;
  uintptr_t begin = offset / table->page_size_bytes;
  (void)dev;
  CHECK(offset % table->page_size_bytes == 0u && begin < table->num_pages);
  CHECK(table->page[begin].num_pages != 0u && table->page[begin].next_free == TVM_PAGE_TAKEN);
  put_free(mgr, (uint32_t)begin);
  --manager->vleak_size;
  return kTvmErrorNoError;
}

tvm_crt_error_t PageMemoryManagerCreate(MemoryManagerInterface** manager, uint8_t* memory_pool,
                                        size_t memory_pool_size_bytes, size_t page_size_bytes_log2) {
  size_t lost = (ALIGNMENT - ((uintptr_t)memory_pool & (ALIGNMENT - 1u))) & (ALIGNMENT - 1u);
  *manager = NULL;
  if (page_size_bytes_log2 >= 8u * sizeof(size_t) - 1u ||
      ((size_t)1 << page_size_bytes_log2) < ALIGNMENT) {
    return kTvmErrorPlatformCheckFailure;
  }
  if (memory_pool == NULL || memory_pool_size_bytes < lost + MANAGER_SIZE) {
    return kTvmErrorPlatformNoMemory;
  }
  size_t page_size = (size_t)1 << page_size_bytes_log2;
  size_t max_pages = (memory_pool_size_bytes - lost - MANAGER_SIZE) / (page_size + BOOKKEEPING_SIZE);
  if (max_pages == 0u) {
    return kTvmErrorPlatformNoMemory;
  }
  if (max_pages >= TVM_PAGE_TAKEN) {
    max_pages = TVM_PAGE_TAKEN - 1u;
  }
  uint8_t* pool = memory_pool + lost;
  MemoryManager* mgr = (MemoryManager*)(void*)(pool + max_pages * page_size);
  mgr->interface.Allocate = allocate;
  mgr->interface.Free = give_back;
  mgr->interface.vleak_size = 0;
  mgr->ptable.memory_pool = pool;
  mgr->ptable.page_size_bytes = page_size;
  mgr->ptable.page = (Page*)(mgr + 1);
  mgr->ptable.max_pages = max_pages;
  mgr->ptable.num_pages = 0;
  for (size_t i = 0; i < max_pages; ++i) {
    mgr->ptable.page[i].num_pages = 0;
    mgr->ptable.page[i].next_free = TVM_PAGE_NONE;
  }
  mgr->first_free = TVM_PAGE_NONE;
  *manager = &mgr->interface;
  return kTvmErrorNoError;
}
