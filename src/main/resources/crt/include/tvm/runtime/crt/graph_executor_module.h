/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph executor as a module, for callers that know functions by name only, such as a host behind an RPC server.
 */
#ifndef TVM_RUNTIME_CRT_GRAPH_EXECUTOR_MODULE_H_
#define TVM_RUNTIME_CRT_GRAPH_EXECUTOR_MODULE_H_

#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers the global function tvm.graph_executor.create(Str graph, Module, Int device type, Int device id) -> Module, which makes the one
 * executor of an image. While its module is there, another creation returns kTvmErrorExecutorModuleAlreadyCreated; after TVMModFree it is
 * released by the next one.
 *
 * The module has get_input(Int or Str), get_input_index(Str), get_num_inputs(), get_num_outputs(), get_output(Int), load_params(Bytes), run()
 * and set_input(Str, DLTensor). get_input_info and share_params return kTvmErrorFunctionCallNotImplemented. */
tvm_crt_error_t TVMGraphExecutorModule_Register(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_GRAPH_EXECUTOR_MODULE_H_ */
