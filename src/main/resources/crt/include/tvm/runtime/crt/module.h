/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules: tables of functions that the runtime knows by a handle.
 */
#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/func_registry.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMModule {
  const TVMFuncRegistry* registry;
} TVMModule;

/* Gives a module a handle, for TVMModGetFunction. The runtime keeps the pointer until TVMModFree.
 *
 * Returns 0, or kTvmErrorFunctionRegistryFull if there are TVM_CRT_MAX_REGISTERED_MODULES modules already. */
int TVMModCreateFromCModule(const TVMModule* mod, TVMModuleHandle* out_handle);

/* The system library: all functions of all models of the image. Generated code defines it. */
const TVMModule* TVMSystemLibEntryPoint(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_MODULE_H_ */
