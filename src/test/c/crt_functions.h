/* SPDX-License-Identifier: Apache-2.0
 *
 * A library of two functions, for tests of what calls them.
 */
#ifndef CRT_FUNCTIONS_H_
#define CRT_FUNCTIONS_H_

#include <string.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/internal/common/ndarray.h>
#include <tvm/runtime/crt/internal/common/rpc_hooks.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/page_allocator.h>

#include "check.h"
#include "crt_platform.h"

static const DLDevice cpu = {kDLCPU, 0};
static const DLDataType int16 = {kDLInt, 16, 1};

static inline uintptr_t number(const void* handle) {
  return (uintptr_t)handle;
}

/* Returns the sum of its integers, or nothing without any. */
static inline int sum(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_type_code,
               void* resource_handle) {
  int64_t total = 0;
  EXPECT(resource_handle == NULL);
  for (int i = 0; i < num_args; ++i) {
    EXPECT(type_codes[i] == kTVMArgInt);
    total += args[i].v_int64;
  }
  if (num_args > 0) {
    ret->v_int64 = total;
    *ret_type_code = kTVMArgInt;
  }
  return 0;
}

static inline int fail(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_type_code,
                void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  TVMAPISetLastError("it went wrong");
  return -1;
}

static const TVMBackendPackedCFunc functions[] = {sum, fail};
static const TVMFuncRegistry registry = {"\002\000sum\0fail\0", functions};
static const TVMModule library = {&registry};

const TVMModule* TVMSystemLibEntryPoint(void) {
  return &library;
}

static inline void start(void) {
  platform_reset();
  EXPECT(TVMInitializeRuntime() == kTvmErrorNoError);
  EXPECT(platform_blocks() == 1);
}

static inline TVMFunctionHandle global(const char* name) {
  TVMFunctionHandle function = NULL;
  EXPECT(TVMFuncGetGlobal(name, &function) == 0);
  return function;
}

static inline TVMModuleHandle get_system_lib(void) {
  TVMValue ret;
  int tcode = 0;
  EXPECT(TVMFuncCall(global("runtime.SystemLib"), NULL, NULL, 0, &ret, &tcode) == 0);
  EXPECT(tcode == kTVMModuleHandle);
  return ret.v_handle;
}

#endif
