/* SPDX-License-Identifier: Apache-2.0
 *
 * Times calls of a function on the board: the global function runtime.RPCTimeEvaluator and what it returns.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_TIME_EVALUATOR_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_TIME_EVALUATOR_H_

#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/func_registry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* runtime.RPCTimeEvaluator: module, function's name, device type and id, number, repeat, min_repeat_ms, limit_zero_time_iterations,
 * cooldown_interval_ms, repeats_to_cooldown, cache_flush_bytes, preprocess. Returns a function; there is one at a time, and an older
 * one is gone.
 *
 * kTvmErrorFunctionCallNumArguments and kTvmErrorFunctionCallWrongArgType for other arguments, kTvmErrorFunctionCallInvalidArg for a
 * number or repeat below 1, or a cooldown, which a board does not do. */
int TVMTimeEvaluator_Create(TVMValue* args, int* type_codes, int num_args, TVMValue* ret_val,
                            int* ret_type_code);

/* The function that it returned, by the index in its handle: calls and times the other function with these arguments. Returns bytes: for each
 * repeat the mean seconds of one call, a double. kTvmErrorTimeEvaluatorBadHandle for an older one. */
int TVMTimeEvaluator_Run(tvm_function_index_t function_index, TVMValue* args, int* type_codes,
                         int num_args, TVMValue* ret_val, int* ret_type_code);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_TIME_EVALUATOR_H_ */
