/* SPDX-License-Identifier: Apache-2.0 */
#include <tvm/runtime/crt/aot_executor.h>
#include <tvm/runtime/crt/aot_executor_module.h>
#include <tvm/runtime/crt/internal/common/executor_calls.h>
#include <tvm/runtime/crt/internal/common/handles.h>
#include <tvm/runtime/crt/module.h>

/* The one executor and the handle of its module; NULL while there is none. */
static TVMAotExecutor* executor;
static TVMModuleHandle executor_module;

static int return_tensor(int64_t index, TVMValue* ret, int* ret_type_code) {
  return return_array(&executor->args[index], ret, ret_type_code);
}

PACKED_FUNCTION(get_input) {
  (void)resource_handle;
  int is_name = num_args == 1 && type_codes[0] == kTVMStr;
  int error = is_call(type_codes, num_args, 1, is_name ? kTVMStr : kTVMArgInt);
  if (error != 0) {
    return error;
  }
  int64_t index = is_name ? TVMAotExecutor_GetInputIndex(executor, args[0].v_str) : args[0].v_int64;
  if (is_name && index < 0) {
    return kTvmErrorExecutorModuleNoSuchInput;
  }
  if (index < 0 || index >= TVMAotExecutor_GetNumInputs(executor)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  return return_tensor(index, ret, ret_type_code);
}

PACKED_FUNCTION(get_input_index) {
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 1, kTVMStr);
  if (error != 0) {
    return error;
  }
  int index = TVMAotExecutor_GetInputIndex(executor, args[0].v_str);
  return index < 0 ? (int)kTvmErrorExecutorModuleNoSuchInput : return_int(index, ret, ret_type_code);
}

PACKED_FUNCTION(get_input_name) {
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 1, kTVMArgInt);
  if (error != 0) {
    return error;
  }
  int64_t index = args[0].v_int64;
  if (index < 0 || index >= TVMAotExecutor_GetNumInputs(executor)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  *ret_type_code = kTVMStr;
  return TVMAotExecutor_GetInputName(executor, (int)index, &ret->v_str);
}

PACKED_FUNCTION(get_num_inputs) {
  (void)args;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 0, 0);
  return error == 0 ? return_int(TVMAotExecutor_GetNumInputs(executor), ret, ret_type_code) : error;
}

PACKED_FUNCTION(get_num_outputs) {
  (void)args;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 0, 0);
  return error == 0 ? return_int(TVMAotExecutor_GetNumOutputs(executor), ret, ret_type_code) : error;
}

PACKED_FUNCTION(get_output) {
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 1, kTVMArgInt);
  if (error != 0) {
    return error;
  }
  int64_t index = args[0].v_int64;
  if (index < 0 || index >= TVMAotExecutor_GetNumOutputs(executor)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  return return_tensor(TVMAotExecutor_GetNumInputs(executor) + index, ret, ret_type_code);
}

PACKED_FUNCTION(run) {
  (void)args;
  (void)ret;
  (void)ret_type_code;
  (void)resource_handle;
  int error = is_call(type_codes, num_args, 0, 0);
  return error == 0 ? TVMAotExecutor_Run(executor) : error;
}

/* In microTVM's order: hosts see the indices. */
static const char names[] =
    "\013\000get_input\0get_input_index\0get_input_info\0get_num_inputs\0get_num_outputs\0get_output\0"
    "load_params\0run\0set_input\0share_params\0get_input_name\0";

static const TVMBackendPackedCFunc functions[] = {
    get_input,  get_input_index, not_implemented, get_num_inputs,  get_num_outputs, get_output,
    not_implemented, run,        not_implemented, not_implemented, get_input_name};

static const TVMFuncRegistry registry = {names, functions};
static const TVMModule module = {&registry};

static void release(void) {
  if (executor != NULL) {
    (void)TVMAotExecutor_Release(executor, executor->device);
    executor = NULL;
  }
}

/* tvm.aot_executor.create(Module, Device, Str) -> Module */
PACKED_FUNCTION(create) {
  (void)resource_handle;
  if (num_args != 3) {
    return kTvmErrorFunctionCallNumArguments;
  }
  if (type_codes[0] != kTVMModuleHandle || type_codes[1] != kDLDevice || type_codes[2] != kTVMStr) {
    return kTvmErrorFunctionCallWrongArgType;
  }
  DLDevice device = args[1].v_device;
  if (device.device_type != kDLCPU || device.device_id != 0) {
    return kTvmErrorExecutorModuleBadContext;
  }
  if (executor != NULL && TVMCrt_ModuleOf(executor_module) == &module) {
    return kTvmErrorExecutorModuleAlreadyCreated;
  }
  release();
  int error = TVMAotExecutor_Create(args[0].v_handle, device, &executor, args[2].v_str);
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

tvm_crt_error_t TVMAotExecutorModule_Register(void) {
  TVMBackendPackedCFunc function = create;
  executor = NULL;
  return (tvm_crt_error_t)TVMFuncRegisterGlobal("tvm.aot_executor.create",
                                                (TVMFunctionHandle)(uintptr_t)function, 0);
}
