/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the page allocator. Exposed for tests.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MEMORY_PAGE_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_INTERNAL_MEMORY_PAGE_ALLOCATOR_H_

#include <crt_config.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/page_allocator.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of the block that begins with a page. */
typedef struct Page {
  uint32_t num_pages; /* 0 where no block begins */
  uint32_t next_free; /* the next free block; TVM_PAGE_TAKEN while the block is taken */
} Page;

#define TVM_PAGE_NONE 0xffffffffu
#define TVM_PAGE_TAKEN 0xfffffffeu

typedef struct PageTable {
  uint8_t* memory_pool;
  size_t page_size_bytes;
  Page* page;       /* max_pages of them */
  size_t max_pages;
  size_t num_pages; /* those before it have been taken once; the others are fresh */
} PageTable;

typedef struct MemoryManager {
  MemoryManagerInterface interface; /* must be the first member */
  PageTable ptable;
  uint32_t first_free; /* free blocks by size, equal ones in the order of freeing */
} MemoryManager;

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MEMORY_PAGE_ALLOCATOR_H_ */
