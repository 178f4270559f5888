/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of a graph: a code for the caller and a text for TVMGetLastError.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_ERROR_H_
#define TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_ERROR_H_

#include <stddef.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps a text for TVMGetLastError, and returns the code. */
int TVMGraphExecutor_Fail(tvm_crt_error_t code, const char* text);

/* The same with several texts, one after another. */
int TVMGraphExecutor_FailWith(tvm_crt_error_t code, const char* const* texts, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_ERROR_H_ */
