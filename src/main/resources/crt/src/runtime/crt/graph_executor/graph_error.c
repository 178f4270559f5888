/* SPDX-License-Identifier: Apache-2.0
 *
 * What TVMGetLastError says of a graph.
 */
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_error.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* Longest text of an error. */
#define MESSAGE_SIZE 160u

int TVMGraphExecutor_FailWith(tvm_crt_error_t code, const char* const* texts, size_t count) {
  char message[MESSAGE_SIZE];
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    for (const char* c = texts[i]; *c != '\0' && used < sizeof(message) - 1u; ++c) {
      message[used++] = *c;
    }
  }
  message[used] = '\0';
  TVMAPISetLastError(message);
  return (int)code;
}

int TVMGraphExecutor_Fail(tvm_crt_error_t code, const char* text) {
  return TVMGraphExecutor_FailWith(code, &text, 1);
}

TVM_CRT_SMALL_END
