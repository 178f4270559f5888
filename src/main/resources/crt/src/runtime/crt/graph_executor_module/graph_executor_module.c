/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/graph_executor_module.h>
#include <tvm/runtime/crt/internal/common/executor_calls.h>
#include <tvm/runtime/crt/internal/common/handles.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/platform.h>

/* The one executor, the handle of its module and its graph; NULL while there is none. */
static TVMGraphExecutor* executor;
static TVMModuleHandle executor_module;
static char* graph;

static int return_tensor(uint32_t entry, TVMValue* ret, int* ret_type_code) {
  TVMNDArray* array = NULL;
  int error = TVMGraphExecutor_Tensor(executor, entry, &array);
  return error == 0 ? return_array(array, ret, ret_type_code) : error;
}

PACKED_FUNCTION(get_input) {
  (void)resource_handle;
  int is_name = num_args == 1 && type_codes[0] == kTVMStr;
  int error = is_call(type_codes, num_args, 1, is_name ? kTVMStr : kTVMArgInt);
  if (error != 0) {
    return error;
  }
  int64_t index = is_name ? TVMGraphExecutor_GetInputIndex(executor, args[0].v_str) : args[0].v_int64;
  if (index < 0 || index >= TVMGraphExecutor_GetNumInputs(executor)) {
    return is_name ? kTvmErrorExecutorModuleNoSuchInput : kTvmErrorFunctionCallInvalidArg;
  }
  return return_tensor(executor->node_row_ptr[executor->input_nodes[index]], ret, ret_type_code);
}

PACKED_FUNCTION(get_input_index) {
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 1, kTVMStr);
  if (error != 0) {
    return error;
  }
  int index = TVMGraphExecutor_GetInputIndex(executor, args[0].v_str);
  return index < 0 ? (int)kTvmErrorExecutorModuleNoSuchInput : return_int(index, ret, ret_type_code);
}

PACKED_FUNCTION(get_num_inputs) {
  (void)args;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 0, 0);
  return error == 0 ? return_int(TVMGraphExecutor_GetNumInputs(executor), ret, ret_type_code) : error;
}

PACKED_FUNCTION(get_num_outputs) {
  (void)args;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 0, 0);
  return error == 0 ? return_int(TVMGraphExecutor_GetNumOutputs(executor), ret, ret_type_code) : error;
}

PACKED_FUNCTION(get_output) {
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 1, kTVMArgInt);
  if (error != 0) {
    return error;
  }
  if (args[0].v_int64 < 0 || args[0].v_int64 >= TVMGraphExecutor_GetNumOutputs(executor)) {
    return kTvmErrorExecutorModuleNoSuchInput;
  }
  return return_tensor(executor->outputs[args[0].v_int64], ret, ret_type_code);
}

PACKED_FUNCTION(load_params) {
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 1, kTVMBytes);
  if (error != 0) {
    return error;
  }
  const TVMByteArray* bytes = (const TVMByteArray*)args[0].v_handle;
  return bytes->size > UINT32_MAX
             ? (int)kTvmErrorFunctionCallInvalidArg
             : TVMGraphExecutor_LoadParams(executor, bytes->data, (uint32_t)bytes->size);
}

PACKED_FUNCTION(run) {
  (void)args;
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 0, 0);
  return error == 0 ? TVMGraphExecutor_RunChecked(executor) : error;
}

PACKED_FUNCTION(set_input) {
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 2, kTVMStr);
  if (error != 0) {
    return error;
  }
  if (type_codes[1] != kTVMDLTensorHandle && type_codes[1] != kTVMNDArrayHandle) {
    return kTvmErrorFunctionCallWrongArgType;
  }
  TVMGraphExecutor_SetInput(executor, args[0].v_str, (DLTensor*)args[1].v_handle);
  error = executor->input_error;
  executor->input_error = 0;
  return error;
}

/* In microTVM's order: hosts see the indices. */
static const char names[] =
    "\012\000get_input\0get_input_index\0get_input_info\0get_num_inputs\0get_num_outputs\0get_output\0"
    "load_params\0run\0set_input\0share_params\0";

static const TVMBackendPackedCFunc functions[] = {
    get_input,  get_input_index, not_implemented, get_num_inputs, get_num_outputs,
    get_output, load_params,     run,             set_input,      not_implemented};

static const TVMFuncRegistry registry = {names, functions};
static const TVMModule module = {&registry};

static void release(void) {
  DLDevice cpu = {kDLCPU, 0};
  if (executor != NULL) {
    (void)TVMGraphExecutor_Release(&executor);
  }
  if (graph != NULL) {
    (void)TVMPlatformMemoryFree(graph, cpu);
    graph = NULL;
  }
}

/* The executor keeps references into the graph, and arguments of a call are gone after it. */
static int keep(const char* json) {
  DLDevice cpu = {kDLCPU, 0};
  void* memory = NULL;
  size_t size = strlen(json) + 1u;
  int error = (int)TVMPlatformMemoryAllocate(size, cpu, &memory);
  if (error == 0) {
    graph = (char*)memory;
    memcpy(graph, json, size);
  }
  return error;
}

/* tvm.graph_executor.create(Str graph, Module, Int device type, Int device id) -> Module */
PACKED_FUNCTION(create) {
  (void)resource_handle;
  if (num_args != 4) {
    return kTvmErrorFunctionCallNumArguments;
  }
  if (type_codes[0] != kTVMStr || type_codes[1] != kTVMModuleHandle || !TVMCrt_IsInteger(type_codes[2]) ||
      !TVMCrt_IsInteger(type_codes[3])) {
    return kTvmErrorFunctionCallWrongArgType;
  }
  if (args[2].v_int64 != kDLCPU || args[3].v_int64 != 0) {
    return kTvmErrorExecutorModuleBadContext;
  }
  if (executor != NULL && TVMCrt_ModuleOf(executor_module) == &module) {
    return kTvmErrorExecutorModuleAlreadyCreated;
  }
  DLDevice cpu = {kDLCPU, 0};
  release();
  int error = keep(args[0].v_str);
  if (error == 0) {
    error = TVMGraphExecutor_Create(graph, args[1].v_handle, &cpu, &executor);
  }
  if (error == 0) {
    error = TVMModCreateFromCModule(&module, &executor_module);
  }
  if (error != 0) {
    release();
    return error;
  }
  ret->v_handle = executor_module;
  *ret_type_code = kTVMModuleHandle;
  return 0;
}

tvm_crt_error_t TVMGraphExecutorModule_Register(void) {
  TVMBackendPackedCFunc function = create;
  executor = NULL;
  graph = NULL;
  return (tvm_crt_error_t)TVMFuncRegisterGlobal("tvm.graph_executor.create",
                                                (TVMFunctionHandle)(uintptr_t)function, 0);
}
