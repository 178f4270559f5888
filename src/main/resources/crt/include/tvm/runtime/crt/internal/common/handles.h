/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles of modules and functions, as hosts see them too; all fit into 32 bits:
 *   module    index | 0x8000
 *   function  (module index | 0x8000) << 16 | function index | 0x8000
 * where module index TVM_CRT_MAX_REGISTERED_MODULES means the global functions, and 0x7fff a time evaluator.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_HANDLES_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_HANDLES_H_

#include <crt_config.h>
#include <stdint.h>
#include <tvm/runtime/crt/func_registry.h>
#include <tvm/runtime/crt/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bit that tells half a handle from 0. */
#define TVM_CRT_HANDLE_VALID 0x8000u

#define TVM_CRT_GLOBAL_MODULE_INDEX TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_TIME_EVALUATOR_MODULE_INDEX 0x7fff

static inline TVMModuleHandle TVMCrt_ModuleHandle(tvm_module_index_t module) {
  return (TVMModuleHandle)(uintptr_t)(module | TVM_CRT_HANDLE_VALID);
}

static inline TVMFunctionHandle TVMCrt_FunctionHandle(tvm_module_index_t module,
                                                      tvm_function_index_t function) {
  return (TVMFunctionHandle)((uintptr_t)(module | TVM_CRT_HANDLE_VALID) << 16 |
                             (uintptr_t)(function | TVM_CRT_HANDLE_VALID));
}

/* The module that a handle stands for, or NULL if there is none. */
const TVMModule* TVMCrt_ModuleOf(TVMModuleHandle module);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_COMMON_HANDLES_H_ */
