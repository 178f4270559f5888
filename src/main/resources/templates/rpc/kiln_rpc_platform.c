/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's hooks for the RPC server: memory in any order, from all that the image leaves free, messages, and random numbers.
 */
#include <stdint.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>

#include "kiln_console.h"
#include "kiln_end.h"
#include "kiln_heap.h"

#define PAGE_BYTES_LOG2 8u
#define PAGE_BYTES ((uintptr_t)1 << PAGE_BYTES_LOG2)

static MemoryManagerInterface* manager;
static uint32_t random_state = 0x2545f491u;

tvm_crt_error_t TVMPlatformInitialize(void) {
  uintptr_t begin = (uintptr_t)kiln_heap_begin();
  uintptr_t aligned = (begin + PAGE_BYTES - 1u) & ~(PAGE_BYTES - 1u);
  size_t bytes = kiln_heap_bytes();
  if (bytes <= aligned - begin) {
    return kTvmErrorPlatformNoMemory;
  }
  return PageMemoryManagerCreate(&manager, (uint8_t*)aligned, bytes - (aligned - begin),
                                 PAGE_BYTES_LOG2);
}

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  *out_ptr = NULL;
  return manager->Allocate(manager, num_bytes, dev, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  return manager->Free(manager, ptr, dev);
}

void TVMPlatformAbort(tvm_crt_error_t code) {
  const uint32_t words[] = {(uint32_t)code};
  kiln_end_text("\r\nkiln: stopped with error 0x#\r\n", words);
  kiln_board_exit(KILN_FAULT_EXIT);
}

/* xorshift32: session ids must differ from one another, not be secret. */
tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t* buffer, size_t num_bytes) {
  for (size_t i = 0; i < num_bytes; ++i) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    buffer[i] = (uint8_t)(random_state >> 24);
  }
  return kTvmErrorNoError;
}

/* A board without a timer has none here either; its own definitions are linked first. */
__attribute__((weak)) tvm_crt_error_t TVMPlatformTimerStart(void) {
  return kTvmErrorPlatformTimerBadState;
}

__attribute__((weak)) tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_time_seconds) {
  *elapsed_time_seconds = 0;
  return kTvmErrorPlatformTimerBadState;
}
