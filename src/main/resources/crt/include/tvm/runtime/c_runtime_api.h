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

/* A definition that another replaces. */
#ifndef TVM_WEAK
#define TVM_WEAK __attribute__((weak))
#endif

/* The version of the interface: the last one of TVM that has microTVM. */
#define TVM_VERSION "0.18.0"

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
  kTVMArgBool = 15,
  kTVMExtBegin = 16
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
typedef void* TVMStreamHandle;
typedef void* TVMObjectHandle;

/* A function of TVM's hosts. Its result goes through TVMCFuncSetReturn. */
typedef int (*TVMPackedCFunc)(TVMValue* args, int* type_codes, int num_args, TVMRetValueHandle ret,
                              void* resource_handle);
typedef void (*TVMPackedCFuncFinalizer)(void* resource_handle);

/* What a TVMRetValueHandle points to: where results and their type codes go. */
typedef struct TVMCReturnValue {
  TVMValue* ret_val;
  int* ret_type_code;
} TVMCReturnValue;

/* Keeps a copy of a message for TVMGetLastError, up to TVM_CRT_LAST_ERROR_SIZE_BYTES - 1 characters of it. NULL keeps "". */
TVM_DLL void TVMAPISetLastError(const char* msg);

/* The last message kept, or "" if there was none. It changes with the next call of TVMAPISetLastError. */
TVM_DLL const char* TVMGetLastError(void);

/* The functions below return 0 or an error code of tvm/runtime/crt/error_codes.h. Those that look functions and modules up need
 * TVMInitializeRuntime (tvm/runtime/crt/crt.h). */

/* Registers a global function; see TVMMutableFuncRegistry_Set for override. f is no handle but a pointer to a TVMBackendPackedCFunc. */
TVM_DLL int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override);

/* Finds a global function. If there is none, *out is NULL and the result 0. */
TVM_DLL int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out);

/* Finds a function of a module. query_imports has no effect, as modules have no imports. kTvmErrorFunctionNameNotFound if there is none. */
TVM_DLL int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                              TVMFunctionHandle* out);

/* Forgets a module. The system library stays. */
TVM_DLL int TVMModFree(TVMModuleHandle mod);

/* Calls a function. What it returns goes to *ret_val and *ret_type_code, which are NULL and kTVMNullptr if it returns nothing. */
TVM_DLL int TVMFuncCall(TVMFunctionHandle func, TVMValue* arg_values, int* type_codes, int num_args,
                        TVMValue* ret_val, int* ret_type_code);

/* Does nothing: functions belong to their tables. */
TVM_DLL int TVMFuncFree(TVMFunctionHandle func);

/* Copies num_ret results to where a TVMCReturnValue points. */
TVM_DLL int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue* value, int* type_code, int num_ret);

/* Makes a tensor of zeros. */
TVM_DLL int TVMArrayAlloc(const tvm_index_t* shape, int ndim, int dtype_code, int dtype_bits,
                          int dtype_lanes, int device_type, int device_id, TVMArrayHandle* out);

/* Drops a reference to a tensor of TVMArrayAlloc or of an executor, and frees it with the last one. */
TVM_DLL int TVMArrayFree(TVMArrayHandle handle);

/* Frees bytes that a function returned: first their data, then the structure. */
TVM_DLL int TVMByteArrayFree(TVMByteArray* arr);

/* Takes nbytes, rounded up to a multiple of the alignment, from TVMPlatformMemoryAllocate. The address is as aligned as that makes it. */
TVM_DLL int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment,
                                    DLDataType type_hint, void** out_data);

/* The same for a tensor, at least 64 bytes. There is one scope: mem_scope must be NULL, "" or "global". */
TVM_DLL int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t* shape,
                                             DLDataType dtype, const char* mem_scope,
                                             void** out_data);

TVM_DLL int TVMDeviceFreeDataSpace(DLDevice dev, void* ptr);

/* Copies the data of a tensor to another of the same size. Both must be dense. */
TVM_DLL int TVMDeviceCopyDataFromTo(DLTensor* from, DLTensor* to, TVMStreamHandle stream);

/* There is one stream, which is always in step: these do nothing. A new stream is NULL. */
TVM_DLL int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle* out);
TVM_DLL int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream);
TVM_DLL int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle);
TVM_DLL int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

/* Does nothing: there are no objects. */
TVM_DLL int TVMObjectFree(TVMObjectHandle obj);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_RUNTIME_API_H_ */
