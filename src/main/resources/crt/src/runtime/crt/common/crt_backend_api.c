/* SPDX-License-Identifier: Apache-2.0
 *
 * All of it is weak: a program may link several libraries that bring it, and has it once.
 */
#include <crt_config.h>
#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/platform.h>

/* As many as microTVM keeps. */
#ifndef TVM_CRT_LAST_ERROR_SIZE_BYTES
#define TVM_CRT_LAST_ERROR_SIZE_BYTES 1024
#endif

static char last_error[TVM_CRT_LAST_ERROR_SIZE_BYTES];

TVM_WEAK void TVMAPISetLastError(const char* msg) {
  size_t length = 0;
  while (msg != NULL && length + 1u < sizeof(last_error) && msg[length] != '\0') {
    ++length;
  }
  if (length > 0u) {
    memmove(last_error, msg, length); /* The message may be the last one. */
  }
  last_error[length] = '\0';
}

TVM_WEAK const char* TVMGetLastError(void) {
  return last_error;
}

static DLDevice device_of(int device_type, int device_id) {
  DLDevice device;
  device.device_type = (DLDeviceType)device_type;
  device.device_id = device_id;
  return device;
}

TVM_WEAK void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                               int dtype_code_hint, int dtype_bits_hint) {
  (void)dtype_code_hint;
  (void)dtype_bits_hint;
  void* workspace = NULL;
  if (nbytes <= SIZE_MAX &&
      TVMPlatformMemoryAllocate((size_t)nbytes, device_of(device_type, device_id), &workspace) ==
          kTvmErrorNoError) {
    return workspace;
  }
  TVMAPISetLastError("TVMBackendAllocWorkspace: not enough memory");
  return NULL;
}

TVM_WEAK int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr) {
  return (int)TVMPlatformMemoryFree(ptr, device_of(device_type, device_id));
}

TVM_WEAK int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task) {
  TVMParallelGroupEnv env;
  (void)num_task;
  env.sync_handle = NULL;
  env.num_task = 1;
  return flambda(0, &env, cdata);
}

TVM_WEAK int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv) {
  (void)task_id;
  (void)penv;
  return kTvmErrorNoError;
}
