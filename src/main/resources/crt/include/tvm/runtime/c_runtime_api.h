/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and handles that generated code and firmware pass to each other, named and laid out as in microTVM.
 */
#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#ifndef TVM_DLL
#ifdef _WIN32
#define TVM_DLL
#else
#define TVM_DLL __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Index and size of tensors. */
typedef int64_t tvm_index_t;

/* What a TVMValue holds. The first three are those of DLDataTypeCode. */
typedef enum {
  kTVMArgInt = 0,
  kTVMArgFloat = 2,
  kTVMOpaqueHandle = 3,
  kTVMNullptr = 4,
  kTVMDataType = 5,
  kDLDevice = 6,
  kTVMDLTensorHandle = 7,
  kTVMObjectHandle = 8,
  kTVMModuleHandle = 9,
  kTVMPackedFuncHandle = 10,
  kTVMStr = 11,
  kTVMBytes = 12,
  kTVMNDArrayHandle = 13,
  kTVMObjectRValueRefArg = 14,
  kTVMArgBool = 15
} TVMArgTypeCode;

/* An argument or result of a function with the packed calling convention. */
typedef union {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
  DLDataType v_type;
  DLDevice v_device;
} TVMValue;

/* A run of bytes that somebody else owns. */
typedef struct {
  const char* data;
  size_t size;
} TVMByteArray;

typedef DLTensor* TVMArrayHandle;
typedef void* TVMModuleHandle;
typedef void* TVMFunctionHandle;
typedef void* TVMRetValueHandle;
typedef void* TVMObjectHandle;

/* Keeps a copy of a message for TVMGetLastError, up to TVM_CRT_LAST_ERROR_SIZE_BYTES - 1 characters of it. NULL keeps "". */
TVM_DLL void TVMAPISetLastError(const char* msg);

/* The last message kept, or "" if there was none. It changes with the next call of TVMAPISetLastError. */
TVM_DLL const char* TVMGetLastError(void);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_RUNTIME_API_H_ */
