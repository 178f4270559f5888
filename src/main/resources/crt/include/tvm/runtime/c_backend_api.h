/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code calls. Code that Kiln generates plans its memory ahead and calls none of it but, with the packed interface,
 * TVMAPISetLastError; code that TVM generated may.
 */
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function with the packed calling convention. Returns 0, or an error code of tvm/runtime/crt/error_codes.h. */
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args,
                                     TVMValue* out_ret_value, int* out_ret_tcode,
                                     void* resource_handle);

/* Memory for the time of one operator, from TVMPlatformMemoryAllocate; blocks are freed in the reverse order.
 *
 * The two hints about the element type are not used. Returns NULL if there is not enough; TVMGetLastError says so. */
TVM_DLL void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                       int dtype_code_hint, int dtype_bits_hint);

/* Gives a workspace back. Returns 0, or the error code of TVMPlatformMemoryFree. */
TVM_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr);

/* What a parallel task may know of its siblings. */
typedef struct {
  void* sync_handle;
  int32_t num_task;
} TVMParallelGroupEnv;

/* One task of several. Returns 0, or an error code. */
typedef int (*FTVMParallelLambda)(int task_id, TVMParallelGroupEnv* penv, void* cdata);

/* Runs the task as the only one of its group, in the caller's thread, whatever number is asked for. Returns what it returns. */
TVM_DLL int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void* cdata, int num_task);

/* Waits for the siblings, of which there are none. Returns 0. */
TVM_DLL int TVMBackendParallelBarrier(int task_id, TVMParallelGroupEnv* penv);

/* Finds a function for generated code: one of the module, which may be NULL, else a global one. Returns 0, or
 * kTvmErrorFunctionNameNotFound. */
TVM_DLL int TVMBackendGetFuncFromEnv(void* mod_node, const char* func_name, TVMFunctionHandle* out);

/* Registers a function of generated code, a TVMBackendPackedCFunc, as a global one; it must not be there yet. */
TVM_DLL int TVMBackendRegisterSystemLibSymbol(const char* name, void* ptr);

/* Does nothing: there is no environment to register functions with. Returns 0. */
TVM_DLL int TVMBackendRegisterEnvCAPI(const char* name, void* ptr);

/* Calls f with cdata unless *handle is set, and sets *handle if f returns 0. Returns what f returns, else 0. */
TVM_DLL int TVMBackendRunOnce(void** handle, int (*f)(void*), void* cdata, int nbytes);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_C_BACKEND_API_H_ */
