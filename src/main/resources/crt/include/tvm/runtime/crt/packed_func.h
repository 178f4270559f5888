/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions with the packed calling convention, bound to their arguments.
 */
#ifndef TVM_RUNTIME_CRT_PACKED_FUNC_H_
#define TVM_RUNTIME_CRT_PACKED_FUNC_H_

#include <crt_config.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads an element type: int, uint, float, bfloat, each with its bits (32, of bfloat 16, if they are left out), bool (one bit, unsigned),
 * handle (64 bits), all with x<lanes> behind where there are several. Of "" and of what is none of them, bits and lanes are 0. */
DLDataType String2DLDataType(const char* s);

/* Arguments or results, by value. */
typedef struct TVMArgs {
  TVMValue values[TVM_CRT_MAX_ARGS];
  int tcodes[TVM_CRT_MAX_ARGS];
  uint32_t values_count;
} TVMArgs;

/* Copies arguments. More than TVM_CRT_MAX_ARGS of them stop the platform. */
TVMArgs TVMArgs_Create(TVMValue* values, uint32_t* tcodes, uint32_t values_count);

typedef struct TVMPackedFunc {
  char name[200];
  TVMFunctionHandle fexec;
  TVMArgs args;
  TVMArgs ret_value;
  int (*Call)(struct TVMPackedFunc* pf);
  void (*SetArgs)(struct TVMPackedFunc* pf, const struct TVMArgs* args);
} TVMPackedFunc;

/* Looks a global function or one of a module up and binds it to arguments. Returns 0, or an error code of the look-up;
 * kTvmErrorFunctionNameNotFound also where the name does not fit. */
int TVMPackedFunc_InitGlobalFunc(TVMPackedFunc* pf, const char* name, const TVMArgs* args);
int TVMPackedFunc_InitModuleFunc(TVMPackedFunc* pf, TVMModuleHandle module, const char* name,
                                 const TVMArgs* args);

/* Calls the function with its arguments and keeps what it returns in ret_value. Returns what TVMFuncCall returns. */
int TVMPackedFunc_Call(TVMPackedFunc* pf);

void TVMPackedFunc_SetArgs(TVMPackedFunc* pf, const TVMArgs* args);

/* The module among the arguments or results. Stops the platform if there is none at this index. */
static inline TVMModuleHandle TVMArgs_AsModuleHandle(const TVMArgs* args, size_t index) {
  if (index >= args->values_count || args->tcodes[index] != kTVMModuleHandle) {
    TVMPlatformAbort(kTvmErrorFunctionCallWrongArgType);
  }
  return args->values[index].v_handle;
}

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PACKED_FUNC_H_ */
