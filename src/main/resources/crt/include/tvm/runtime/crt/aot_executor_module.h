/* SPDX-License-Identifier: Apache-2.0
 *
 * The AOT executor as a module, for callers that know functions by name only, such as a host behind an RPC server.
 */
#ifndef TVM_RUNTIME_CRT_AOT_EXECUTOR_MODULE_H_
#define TVM_RUNTIME_CRT_AOT_EXECUTOR_MODULE_H_

#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the global function tvm.aot_executor.create(Module, Device, Str model) -> Module, which makes the one executor of an image.
 * While its module is there, another creation returns kTvmErrorExecutorModuleAlreadyCreated; after TVMModFree it is released by the next one.
 *
 * The module has get_input(Int or Str), get_input_index(Str), get_num_inputs(), get_num_outputs(), get_output(Int), run() and
 * get_input_name(Int). get_input_info, load_params, set_input and share_params return kTvmErrorFunctionCallNotImplemented. */
tvm_crt_error_t TVMAotExecutorModule_Register(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_AOT_EXECUTOR_MODULE_H_ */
