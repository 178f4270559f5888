/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a model with the packed interface by its metadata: tensors for its inputs and outputs, and a call of its entry point.
 */
#ifndef TVM_RUNTIME_CRT_AOT_EXECUTOR_H_
#define TVM_RUNTIME_CRT_AOT_EXECUTOR_H_

#include <dlpack/dlpack.h>
#include <tvm/runtime/crt/internal/common/ndarray.h>
#include <tvm/runtime/metadata_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMMetadata TVMMetadata;

typedef struct TVMAotExecutor {
  const TVMMetadata* metadata;
  TVMModuleHandle module_handle;
  DLDevice device;
  TVMNDArray* args; /* inputs, then outputs */
  int64_t num_args;
} TVMAotExecutor;

/* Makes an executor by TVMPlatformMemoryAllocate, with a tensor of zeros for each input and output.
 *
 * Looks tvmgen_<module_name>_get_c_metadata up in the module. Returns 0, kTvmErrorFunctionNameNotFound if the module has no such model or
 * the name is too long, kTvmErrorFunctionCallWrongArgType if its metadata is not of version 1, kTvmErrorFunctionCallNumArguments if inputs and outputs are more than TVM_CRT_MAX_ARGS, or the error of what
 * failed. *executor is NULL then and nothing stays allocated. */
int TVMAotExecutor_Create(TVMModuleHandle module_handle, const DLDevice device,
                          TVMAotExecutor** executor, const char* module_name);

/* Gives all memory back, that of the tensors too, whoever holds a reference. Returns 0, or an error code. */
int TVMAotExecutor_Release(TVMAotExecutor* executor, const DLDevice device);

int TVMAotExecutor_GetNumInputs(TVMAotExecutor* executor);
int TVMAotExecutor_GetNumOutputs(TVMAotExecutor* executor);

/* The index of an input, or -1 if none has this name. */
int TVMAotExecutor_GetInputIndex(TVMAotExecutor* executor, const char* name);

/* The name of an input. Returns 0, or kTvmErrorFunctionCallInvalidArg if there is no such input. */
int TVMAotExecutor_GetInputName(TVMAotExecutor* executor, int index, const char** name);

/* Runs the model once. Returns 0, or an error code. */
int TVMAotExecutor_Run(TVMAotExecutor* executor);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_AOT_EXECUTOR_H_ */
