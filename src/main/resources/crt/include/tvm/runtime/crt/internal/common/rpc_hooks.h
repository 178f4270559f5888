/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the RPC server connects with the runtime. The runtime has weak definitions that do nothing, so that an image without a server links
 * none of its code; the server defines them in the file of MicroTVMRpcServerInit, so that whatever links the server links them too.
 *
 * Handles as a host sees them, all within 32 bits:
 *   module    index | 0x8000
 *   function  (module index | 0x8000) << 16 | function index | 0x8000
 * where module index TVM_CRT_MAX_REGISTERED_MODULES means the global functions, and 0x7fff a time evaluator.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_RPC_HOOKS_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_RPC_HOOKS_H_

#include <stdint.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/func_registry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bit that tells a handle from 0. */
#define TVM_CRT_HANDLE_VALID 0x8000u

/* The module index in the handle of a time evaluator's function. */
#define TVM_CRT_TIME_EVALUATOR_MODULE_INDEX 0x7fffu

static inline TVMModuleHandle TVMCrtModuleHandle(tvm_module_index_t module) {
  return (TVMModuleHandle)(uintptr_t)(module | TVM_CRT_HANDLE_VALID);
}

static inline TVMFunctionHandle TVMCrtFunctionHandle(tvm_module_index_t module,
                                                     tvm_function_index_t function) {
  return (TVMFunctionHandle)((uintptr_t)(module | TVM_CRT_HANDLE_VALID) << 16 |
                             (uintptr_t)(function | TVM_CRT_HANDLE_VALID));
}

/* Registers the global functions that only a server has: runtime.RPCTimeEvaluator, tvm.rpc.server.GetCRTMaxPacketSize and
 * tvm.contrib.random.random_fill. TVMInitializeRuntime calls it last. [default: registers none] */
tvm_crt_error_t TVMRpcHooks_RegisterGlobals(void);

/* Runs the time evaluator whose function index, without TVM_CRT_HANDLE_VALID, is given; the other parameters and the result are those of
 * TVMFuncCall, which calls it. [default: kTvmErrorTimeEvaluatorBadHandle] */
int TVMRpcHooks_CallTimeEvaluator(tvm_function_index_t evaluator, TVMValue* arg_values,
                                  int* type_codes, int num_args, TVMValue* ret_val,
                                  int* ret_type_code);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_COMMON_RPC_HOOKS_H_ */
