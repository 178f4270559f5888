/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the RPC server connects with the runtime. The runtime has weak definitions that do nothing, so that an image without a server links
 * none of its code; the server defines them in the file of MicroTVMRpcServerInit, so that whatever links the server links them too.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_RPC_HOOKS_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_RPC_HOOKS_H_

#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/internal/common/handles.h>

#ifdef __cplusplus
extern "C" {
#endif

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
