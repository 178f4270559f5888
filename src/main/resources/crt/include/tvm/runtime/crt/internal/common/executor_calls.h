/* SPDX-License-Identifier: Apache-2.0
 *
 * What the packed functions of the executors' modules share.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_EXECUTOR_CALLS_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_EXECUTOR_CALLS_H_

#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/internal/common/argument_types.h>
#include <tvm/runtime/crt/internal/common/ndarray.h>

#define PACKED_FUNCTION(name)                                                          \
  static int name(TVMValue* args, int* type_codes, int num_args, TVMValue* ret,        \
                  int* ret_type_code, void* resource_handle)

/* Stands in for functions of microTVM that an executor does not have: hosts count on their indices. */
static inline int not_implemented(TVMValue* args, int* type_codes, int num_args, TVMValue* ret,
                                  int* ret_type_code, void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  return kTvmErrorFunctionCallNotImplemented;
}

/* Checks the number of arguments and the type of the first one. */
static inline int is_call(const int* type_codes, int num_args, int expected_args, int expected_code) {
  if (num_args != expected_args) {
    return kTvmErrorFunctionCallNumArguments;
  }
  int is_expected = num_args == 0 || type_codes[0] == expected_code ||
                    (expected_code == kTVMArgInt && TVMCrt_IsInteger(type_codes[0]));
  return is_expected ? 0 : (int)kTvmErrorFunctionCallWrongArgType;
}

static inline int return_int(int64_t value, TVMValue* ret, int* ret_type_code) {
  ret->v_int64 = value;
  *ret_type_code = kTVMArgInt;
  return 0;
}

/* Hands a tensor out, with a reference of its own. */
static inline int return_array(TVMNDArray* array, TVMValue* ret, int* ret_type_code) {
  TVMNDArray_IncrementReference(array);
  ret->v_handle = array;
  *ret_type_code = kTVMNDArrayHandle;
  return 0;
}

#endif
