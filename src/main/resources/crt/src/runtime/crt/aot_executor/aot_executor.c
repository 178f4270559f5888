/* SPDX-License-Identifier: Apache-2.0 */
#include <crt_config.h>
#include <string.h>
#include <tvm/runtime/crt/aot_executor.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/platform.h>

#define METADATA_VERSION 1

/* Looks the function up whose name is made of three parts. */
static int find_function(TVMModuleHandle module, const char* prefix, const char* name,
                         const char* suffix, TVMFunctionHandle* out) {
  char text[TVM_CRT_MAX_STRLEN_FUNCTION_NAME];
  const char* parts[3] = {prefix, name, suffix};
  size_t used = 0;
  for (size_t i = 0; i < 3u; ++i) {
    size_t length = strlen(parts[i]);
    if (length >= sizeof(text) - used) {
      return kTvmErrorFunctionNameNotFound;
    }
    memcpy(text + used, parts[i], length);
    used += length;
  }
  text[used] = '\0';
  return TVMModGetFunction(module, text, 0, out);
}

static int get_metadata(TVMModuleHandle module, const char* module_name,
                        const TVMMetadata** metadata) {
  TVMFunctionHandle function = NULL;
  TVMValue result;
  int tcode = kTVMNullptr;
  int error = find_function(module, "tvmgen_", module_name, "_get_c_metadata", &function);
  if (error == 0) {
    error = TVMFuncCall(function, NULL, NULL, 0, &result, &tcode);
  }
  if (error != 0) {
    return error;
  }
  *metadata = (const TVMMetadata*)result.v_handle;
  int is_known = tcode == kTVMOpaqueHandle && *metadata != NULL && (*metadata)->version == METADATA_VERSION;
  return is_known ? 0 : (int)kTvmErrorFunctionCallWrongArgType;
}

/* Frees all that the executor has, in the reverse order of taking it. */
static int release(TVMAotExecutor* executor, DLDevice device) {
  int first_error = 0;
  for (int64_t i = executor->num_args - 1; i >= 0; --i) {
    /* No reference outlives the executor, which holds the structures. */
    executor->args[i].reference_count = 1;
    int error = TVMNDArray_Release(&executor->args[i]);
    first_error = first_error == 0 ? error : first_error;
  }
  if (executor->args != NULL) {
    int error = (int)TVMPlatformMemoryFree(executor->args, device);
    first_error = first_error == 0 ? error : first_error;
  }
  int error = (int)TVMPlatformMemoryFree(executor, device);
  return first_error == 0 ? error : first_error;
}

static int allocate_tensors(TVMAotExecutor* executor, const struct TVMTensorInfo* tensors,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    int32_t ndim = tensors[i].num_shape <= TVM_CRT_MAX_NDIM ? (int32_t)tensors[i].num_shape : -1;
    int error = TVMNDArray_Empty(ndim, tensors[i].shape, tensors[i].dtype, executor->device,
                                 &executor->args[executor->num_args]);
    if (error != 0) {
      return error;
    }
    ++executor->num_args;
  }
  return 0;
}

static int allocate(TVMAotExecutor* executor) {
  const TVMMetadata* metadata = executor->metadata;
  void* memory = NULL;
  if (metadata->num_inputs < 0 || metadata->num_inputs > TVM_CRT_MAX_ARGS ||
      metadata->num_outputs < 0 || metadata->num_outputs > TVM_CRT_MAX_ARGS - metadata->num_inputs) {
    return kTvmErrorFunctionCallNumArguments;
  }
  size_t tensors = (size_t)(metadata->num_inputs + metadata->num_outputs);
  int error = (int)TVMPlatformMemoryAllocate(tensors * sizeof(TVMNDArray), executor->device, &memory);
  if (error != 0) {
    return error;
  }
  executor->args = (TVMNDArray*)memory;
  error = allocate_tensors(executor, metadata->inputs, metadata->num_inputs);
  return error == 0 ? allocate_tensors(executor, metadata->outputs, metadata->num_outputs) : error;
}

int TVMAotExecutor_Create(TVMModuleHandle module_handle, const DLDevice device,
                          TVMAotExecutor** executor, const char* module_name) {
  const TVMMetadata* metadata = NULL;
  void* memory = NULL;
  *executor = NULL;
  int error = get_metadata(module_handle, module_name, &metadata);
  if (error == 0) {
    error = (int)TVMPlatformMemoryAllocate(sizeof(TVMAotExecutor), device, &memory);
  }
  if (error != 0) {
    return error;
  }
  TVMAotExecutor* created = (TVMAotExecutor*)memory;
  memset(created, 0, sizeof(*created));
  created->metadata = metadata;
  created->module_handle = module_handle;
  created->device = device;
  error = allocate(created);
  if (error != 0) {
    (void)release(created, device);
    return error;
  }
  *executor = created;
  return 0;
}

int TVMAotExecutor_Release(TVMAotExecutor* executor, const DLDevice device) {
  return release(executor, device);
}

int TVMAotExecutor_GetNumInputs(TVMAotExecutor* executor) {
  return (int)executor->metadata->num_inputs;
}

int TVMAotExecutor_GetNumOutputs(TVMAotExecutor* executor) {
  return (int)executor->metadata->num_outputs;
}

int TVMAotExecutor_GetInputIndex(TVMAotExecutor* executor, const char* name) {
  for (int i = 0; i < TVMAotExecutor_GetNumInputs(executor); ++i) {
    if (strcmp(executor->metadata->inputs[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

int TVMAotExecutor_GetInputName(TVMAotExecutor* executor, int index, const char** name) {
  if (index < 0 || index >= TVMAotExecutor_GetNumInputs(executor)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  *name = executor->metadata->inputs[index].name;
  return 0;
}

int TVMAotExecutor_Run(TVMAotExecutor* executor) {
  TVMValue values[TVM_CRT_MAX_ARGS];
  int tcodes[TVM_CRT_MAX_ARGS];
  TVMValue result;
  int result_tcode = kTVMNullptr;
  TVMFunctionHandle run = NULL;
  int error = find_function(executor->module_handle, "", executor->metadata->mod_name, "_run", &run);
  if (error != 0) {
    return error;
  }
  for (int64_t i = 0; i < executor->num_args; ++i) {
    values[i].v_handle = &executor->args[i].dl_tensor;
    tcodes[i] = kTVMDLTensorHandle;
  }
  return TVMFuncCall(run, values, tcodes, (int)executor->num_args, &result, &result_tcode);
}
