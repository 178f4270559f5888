/* SPDX-License-Identifier: Apache-2.0
 *
 * What the type codes of arguments have in common.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_ARGUMENT_TYPES_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_ARGUMENT_TYPES_H_

#include <tvm/runtime/c_runtime_api.h>

/* Whether v_int64 holds an argument: hosts of TVM 0.18 send a bool where those of 0.16 send an integer of 0 or 1. */
static inline int TVMCrt_IsInteger(int type_code) {
  return type_code == kTVMArgInt || type_code == kTVMArgBool;
}

#endif /* TVM_RUNTIME_CRT_INTERNAL_COMMON_ARGUMENT_TYPES_H_ */
