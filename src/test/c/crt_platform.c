/* SPDX-License-Identifier: Apache-2.0 */
#include "crt_platform.h"

#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/page_allocator.h>

#include "check.h"

static uint8_t memory[1 << 16] __attribute__((aligned(256)));
static MemoryManagerInterface* manager;
static int allocations_left = -1;

jmp_buf platform_end;
int platform_end_is_expected;

void platform_reset(void) {
  allocations_left = -1;
  EXPECT(PageMemoryManagerCreate(&manager, memory, sizeof(memory), 6) == kTvmErrorNoError);
}

void platform_fail_after(int allocations) {
  allocations_left = allocations;
}

int platform_blocks(void) {
  return manager->vleak_size;
}

void TVMPlatformAbort(tvm_crt_error_t code) {
  EXPECT(code != kTvmErrorNoError && platform_end_is_expected);
  longjmp(platform_end, 1);
}

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  if (manager == NULL) {
    platform_reset();
  }
  if (allocations_left == 0) {
    *out_ptr = NULL;
    return kTvmErrorPlatformNoMemory;
  }
  allocations_left -= allocations_left > 0;
  return manager->Allocate(manager, num_bytes, dev, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  return manager->Free(manager, ptr, dev);
}

tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t* buffer, size_t num_bytes) {
  for (size_t i = 0; i < num_bytes; ++i) {
    buffer[i] = (uint8_t)(i + 1u);
  }
  return kTvmErrorNoError;
}

/* For tests without functions of their own. */
TVM_WEAK const TVMModule* TVMSystemLibEntryPoint(void) {
  return NULL;
}
