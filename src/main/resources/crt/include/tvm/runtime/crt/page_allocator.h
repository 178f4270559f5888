/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is given back in any order, in whole pages of one static buffer: what an RPC server and the graph executor need behind
 * TVMPlatformMemoryAllocate.
 *
 *   memory_pool                                              memory_pool + memory_pool_size_bytes
 *   | page 0 | page 1 | … | page max_pages - 1 | bookkeeping |
 */
#ifndef TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MemoryManagerInterface MemoryManagerInterface;

struct MemoryManagerInterface {
  /* Takes as many pages as hold num_bytes, at least one: the smallest block that was freed and is large enough, whole, of equal ones that
   * freed first; else pages that nobody has had. kTvmErrorPlatformNoMemory if neither is there; *out_ptr is NULL then. */
  tvm_crt_error_t (*Allocate)(MemoryManagerInterface* manager, size_t num_bytes, DLDevice dev,
                              void** out_ptr);

  /* Gives a block back. A pointer that is no block of this manager stops the platform. */
  tvm_crt_error_t (*Free)(MemoryManagerInterface* manager, void* ptr, DLDevice dev);

  /* How many blocks are taken. */
  int vleak_size;
};

/* Makes a manager of a buffer that it keeps; it lies in the buffer itself. Pages have 1 << page_size_bytes_log2 bytes and begin at the
 * buffer's first multiple of TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES.
 *
 * There are (size - sizeof(manager)) / (page size + bookkeeping) of them, with the sizes that microTVM counts for manager and bookkeeping of
 * a page: 168 and 88 bytes where pointers have 64 bits, 84 and 72 else.
 *
 * kTvmErrorPlatformNoMemory if there is no room for a page; kTvmErrorPlatformCheckFailure if pages are smaller than
 * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES or as large as the address space. */
tvm_crt_error_t PageMemoryManagerCreate(MemoryManagerInterface** manager, uint8_t* memory_pool,
                                        size_t memory_pool_size_bytes, size_t page_size_bytes_log2);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_ */
