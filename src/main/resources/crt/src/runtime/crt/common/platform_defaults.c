/* SPDX-License-Identifier: Apache-2.0
 *
 * Weak definitions of the hooks that a firmware can do without. They never pretend: without memory there is none.
 */
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/platform.h>

#define WEAK __attribute__((weak))

WEAK tvm_crt_error_t TVMPlatformInitialize(void) {
  return kTvmErrorNoError;
}

WEAK void TVMPlatformAbort(tvm_crt_error_t code) {
  (void)code;
  for (;;) {
  }
}

WEAK tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  (void)num_bytes;
  (void)dev;
  *out_ptr = NULL;
  return kTvmErrorPlatformNoMemory;
}

WEAK tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)ptr;
  (void)dev;
  return kTvmErrorPlatformStackAllocBadFree;
}

WEAK tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t* buffer, size_t num_bytes) {
  (void)buffer;
  (void)num_bytes;
  return kTvmErrorFunctionCallNotImplemented;
}

WEAK tvm_crt_error_t TVMPlatformBeforeMeasurement(void) {
  return kTvmErrorNoError;
}

WEAK tvm_crt_error_t TVMPlatformAfterMeasurement(void) {
  return kTvmErrorNoError;
}

WEAK void TVMLogf(const char* fmt, ...) {
  (void)fmt;
}
