/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks that connect the runtime with a platform. A firmware supplies those that it uses; code that Kiln generates uses none.
 * Hooks marked [default] have a weak definition in the runtime that a firmware's own replaces.
 */
#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include <crt_config.h>
#include <dlpack/dlpack.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Brings the platform up: clocks, UART, timers. Called once, before any other hook. [default: nothing to do, no error] */
tvm_crt_error_t TVMPlatformInitialize(void);

/* Stops for good after a fault that cannot be mended. Must not return. [default: an endless loop] */
void TVMPlatformAbort(tvm_crt_error_t code) __attribute__((noreturn));

/* Formats as vsnprintf does: at most out_buf_size_bytes, terminating zero included. Returns the characters written, without it. */
size_t TVMPlatformFormatMessage(char* out_buf, size_t out_buf_size_bytes, const char* fmt,
                                va_list args);

/* Allocates memory aligned to TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES, for instance with the stack allocator.
 * [default: kTvmErrorPlatformNoMemory, as there is none] */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr);

/* Gives memory back, the last block first. [default: kTvmErrorPlatformStackAllocBadFree, as nothing was allocated] */
tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev);

/* Starts measuring time. kTvmErrorPlatformTimerBadState if it runs already. */
tvm_crt_error_t TVMPlatformTimerStart(void);

/* Stops measuring and tells the time since the start, in seconds. kTvmErrorPlatformTimerBadState if it does not run. */
tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_time_seconds);

/* Called before a series of measurements, for instance to switch interrupts off. [default: nothing to do, no error] */
tvm_crt_error_t TVMPlatformBeforeMeasurement(void);

/* Called after it. [default: nothing to do, no error] */
tvm_crt_error_t TVMPlatformAfterMeasurement(void);

/* Fills a buffer with random bytes. They need not be secret. */
tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t* buffer, size_t num_bytes);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PLATFORM_H_ */
