/* SPDX-License-Identifier: Apache-2.0
 *
 * The AOT executor and its module, on a model written by hand: the sum of two inputs, and their product.
 */
#include <string.h>
#include <tvm/runtime/crt/aot_executor.h>
#include <tvm/runtime/crt/aot_executor_module.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/module.h>

#include "check.h"
#include "crt_platform.h"

#define ELEMENTS 3

static const DLDevice cpu = {kDLCPU, 0};
static const int64_t shape[] = {1, ELEMENTS};
static const struct TVMTensorInfo inputs[] = {{"left", shape, 2, {kDLInt, 16, 1}}, {"right", shape, 2, {kDLInt, 16, 1}}};
static const struct TVMTensorInfo outputs[] = {{"output0", shape, 2, {kDLInt, 32, 1}}, {"output1", shape, 2, {kDLInt, 32, 1}}};
static const int64_t pool_shape[] = {64};
static const struct TVMTensorInfo pools[] = {{"global_workspace", pool_shape, 1, {kDLUInt, 8, 1}}};
static struct TVMMetadata metadata = {1, inputs, 2, outputs, 2, pools, 1, NULL, 0, "tvmgen_calculator"};
static int run_result;

static void* data_of(TVMValue* args, int index) {
  return ((DLTensor*)args[index].v_handle)->data;
}

static int run_model(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_type_code,
                     void* resource_handle) {
  EXPECT(num_args == 4 && ret != NULL && *ret_type_code == kTVMNullptr && resource_handle == NULL);
  for (int i = 0; i < num_args; ++i) {
    const DLTensor* tensor = (const DLTensor*)args[i].v_handle;
    EXPECT(type_codes[i] == kTVMDLTensorHandle && tensor->ndim == 2 && tensor->shape[1] == ELEMENTS);
    EXPECT(tensor->dtype.bits == (i < 2 ? 16u : 32u) && tensor->strides == NULL && tensor->byte_offset == 0u);
    EXPECT(tensor->device.device_type == kDLCPU && tensor->device.device_id == 0);
  }
  const int16_t* left = (const int16_t*)data_of(args, 0);
  const int16_t* right = (const int16_t*)data_of(args, 1);
  for (int i = 0; i < ELEMENTS; ++i) {
    ((int32_t*)data_of(args, 2))[i] = left[i] + right[i];
    ((int32_t*)data_of(args, 3))[i] = left[i] * right[i];
  }
  return run_result;
}

static int get_c_metadata(TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_type_code,
                          void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)resource_handle;
  EXPECT(num_args == 0);
  ret->v_handle = &metadata;
  *ret_type_code = kTVMOpaqueHandle;
  return 0;
}

static const TVMBackendPackedCFunc functions[] = {run_model, get_c_metadata};
static const TVMFuncRegistry registry = {"\002\000tvmgen_calculator_run\0tvmgen_calculator_get_c_metadata\0", functions};
static const TVMModule library = {&registry};

const TVMModule* TVMSystemLibEntryPoint(void) {
  return &library;
}

static TVMValue ret;
static int ret_tcode;

static int call(TVMFunctionHandle function, TVMValue* args, int* tcodes, int num_args) {
  return TVMFuncCall(function, args, tcodes, num_args, &ret, &ret_tcode);
}

static TVMModuleHandle start(void) {
  TVMFunctionHandle function = NULL;
  run_result = 0;
  metadata.version = 1;
  platform_reset();
  EXPECT(TVMInitializeRuntime() == kTvmErrorNoError);
  EXPECT(TVMAotExecutorModule_Register() == kTvmErrorNoError);
  EXPECT(TVMFuncGetGlobal("runtime.SystemLib", &function) == 0 && call(function, NULL, NULL, 0) == 0);
  return ret.v_handle;
}

static void fill(void* left, void* right) {
  for (int16_t i = 0; i < ELEMENTS; ++i) {
    ((int16_t*)left)[i] = (int16_t)(100 * i - 7);
    ((int16_t*)right)[i] = (int16_t)(i + 2);
  }
}

static void has_run(const void* sum, const void* product) {
  static const int32_t sums[] = {-5, 96, 197};
  static const int32_t products[] = {-14, 279, 772};
  EXPECT(memcmp(sum, sums, sizeof(sums)) == 0 && memcmp(product, products, sizeof(products)) == 0);
}

static void an_executor_runs_its_model(void) {
  TVMModuleHandle module = start();
  TVMAotExecutor* executor = NULL;
  const char* name = NULL;
  EXPECT(TVMAotExecutor_Create(module, cpu, &executor, "calculator") == 0);
  EXPECT(executor->metadata == &metadata && executor->module_handle == module && executor->num_args == 4);
  EXPECT(TVMAotExecutor_GetNumInputs(executor) == 2 && TVMAotExecutor_GetNumOutputs(executor) == 2);
  EXPECT(TVMAotExecutor_GetInputIndex(executor, "right") == 1);
  EXPECT(TVMAotExecutor_GetInputIndex(executor, "output0") == -1);
  EXPECT(TVMAotExecutor_GetInputName(executor, 0, &name) == 0 && strcmp(name, "left") == 0);
  EXPECT(TVMAotExecutor_GetInputName(executor, 2, &name) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMAotExecutor_GetInputName(executor, -1, &name) == kTvmErrorFunctionCallInvalidArg);
  for (int i = 0; i < 4; ++i) {
    EXPECT(executor->args[i].reference_count == 1u && ((uint8_t*)executor->args[i].dl_tensor.data)[5] == 0u);
  }
  fill(executor->args[0].dl_tensor.data, executor->args[1].dl_tensor.data);
  EXPECT(TVMAotExecutor_Run(executor) == 0);
  has_run(executor->args[2].dl_tensor.data, executor->args[3].dl_tensor.data);
  run_result = -1;
  EXPECT(TVMAotExecutor_Run(executor) == -1);
  TVMNDArray_IncrementReference(&executor->args[3]);
  EXPECT(TVMAotExecutor_Release(executor, cpu) == 0 && platform_blocks() == 1);
}

static void is_not_created(TVMModuleHandle module, const char* name, int error) {
  TVMAotExecutor* executor = (TVMAotExecutor*)(void*)&metadata;
  int before = platform_blocks();
  EXPECT(TVMAotExecutor_Create(module, cpu, &executor, name) == error);
  EXPECT(executor == NULL && platform_blocks() == before);
}

static void what_is_no_model_is_not_run(void) {
  char name[TVM_CRT_MAX_STRLEN_FUNCTION_NAME + 1];
  TVMModuleHandle module = start();
  memset(name, 'x', sizeof(name));
  name[TVM_CRT_MAX_STRLEN_FUNCTION_NAME] = '\0';
  is_not_created(module, "default", kTvmErrorFunctionNameNotFound);
  is_not_created(module, name, kTvmErrorFunctionNameNotFound);
  is_not_created(NULL, "calculator", kTvmErrorFunctionIndexInvalid);
  metadata.version = 2;
  is_not_created(module, "calculator", kTvmErrorFunctionCallWrongArgType);
  metadata.version = 1;
  metadata.num_inputs = TVM_CRT_MAX_ARGS - 1;
  is_not_created(module, "calculator", kTvmErrorFunctionCallNumArguments);
  metadata.num_inputs = 2;
  /* The executor, its tensors, and shape and data of each of four. */
  for (int allocations = 0; allocations < 10; ++allocations) {
    platform_fail_after(allocations);
    is_not_created(module, "calculator", kTvmErrorPlatformNoMemory);
  }
}

static int create(TVMModuleHandle module, const char* name, int32_t device_id) {
  TVMValue args[3];
  int tcodes[] = {kTVMModuleHandle, kDLDevice, kTVMStr};
  TVMFunctionHandle function = NULL;
  args[0].v_handle = module;
  args[1].v_device = cpu;
  args[1].v_device.device_id = device_id;
  args[2].v_str = name;
  EXPECT(TVMFuncGetGlobal("tvm.aot_executor.create", &function) == 0 && function != NULL);
  for (int i = 0; i < 3; ++i) {
    tcodes[i] += 1;
    EXPECT(call(function, args, tcodes, 3) == kTvmErrorFunctionCallWrongArgType);
    tcodes[i] -= 1;
  }
  EXPECT(call(function, args, tcodes, 2) == kTvmErrorFunctionCallNumArguments);
  return call(function, args, tcodes, 3);
}

static void one_executor_is_created(void) {
  TVMModuleHandle module = start();
  EXPECT(create(module, "calculator", 1) == kTvmErrorExecutorModuleBadContext);
  EXPECT(create(module, "other", 0) == kTvmErrorFunctionNameNotFound && platform_blocks() == 1);
  EXPECT(create(module, "calculator", 0) == 0 && ret_tcode == kTVMModuleHandle);
  TVMModuleHandle first = ret.v_handle;
  int blocks = platform_blocks();
  EXPECT(create(module, "calculator", 0) == kTvmErrorExecutorModuleAlreadyCreated);
  EXPECT(TVMModFree(first) == 0);
  EXPECT(create(module, "calculator", 0) == 0 && ret.v_handle == first && platform_blocks() == blocks);
  EXPECT(TVMModFree(first) == 0 && TVMModCreateFromCModule(&library, &module) == 0);
  EXPECT(create(module, "calculator", 0) == kTvmErrorFunctionRegistryFull && platform_blocks() == 1);
}

static TVMModuleHandle executor_module;

/* Calls a function of the executor's module without arguments or with one. */
static int call_named(const char* name, int tcode, int64_t value, const char* text) {
  TVMFunctionHandle function = NULL;
  TVMValue args[2];
  int tcodes[2] = {tcode, kTVMArgInt};
  args[0].v_int64 = value;
  if (text != NULL) {
    args[0].v_str = text;
  }
  EXPECT(TVMModGetFunction(executor_module, name, 0, &function) == 0);
  EXPECT(strcmp(name, "get_input_info") == 0 || strcmp(name, "load_params") == 0 || strcmp(name, "set_input") == 0 ||
         strcmp(name, "share_params") == 0 || call(function, args, tcodes, 2) == kTvmErrorFunctionCallNumArguments);
  return call(function, args, tcodes, tcode == kTVMNullptr ? 0 : 1);
}

static void* tensor(const char* name, int tcode, int64_t value, const char* text) {
  EXPECT(call_named(name, tcode, value, text) == 0 && ret_tcode == kTVMNDArrayHandle);
  EXPECT(((TVMNDArray*)ret.v_handle)->reference_count >= 2u);
  void* data = ((DLTensor*)ret.v_handle)->data;
  EXPECT(TVMArrayFree((TVMArrayHandle)ret.v_handle) == 0);
  return data;
}

static void the_module_has_the_functions_of_microtvm(void) {
  static const char* const names[] = {"get_input",  "get_input_index", "get_input_info", "get_num_inputs",
                                      "get_num_outputs", "get_output", "load_params",    "run",
                                      "set_input",  "share_params",    "get_input_name"};
  TVMModuleHandle module = start();
  EXPECT(create(module, "calculator", 0) == 0);
  executor_module = ret.v_handle;
  for (unsigned i = 0; i < 11u; ++i) {
    TVMFunctionHandle function = NULL;
    EXPECT(TVMModGetFunction(executor_module, names[i], 0, &function) == 0);
    EXPECT(((uintptr_t)function & 0xffffu) == (0x8000u | i));
  }
  EXPECT(call_named("get_num_inputs", kTVMNullptr, 0, NULL) == 0 && ret_tcode == kTVMArgInt && ret.v_int64 == 2);
  EXPECT(call_named("get_num_outputs", kTVMNullptr, 0, NULL) == 0 && ret_tcode == kTVMArgInt && ret.v_int64 == 2);
  EXPECT(call_named("get_input_index", kTVMStr, 0, "right") == 0 && ret_tcode == kTVMArgInt && ret.v_int64 == 1);
  EXPECT(call_named("get_input_index", kTVMStr, 0, "up") == kTvmErrorExecutorModuleNoSuchInput);
  EXPECT(call_named("get_input_name", kTVMArgInt, 1, NULL) == 0 && ret_tcode == kTVMStr);
  EXPECT(strcmp(ret.v_str, "right") == 0);
  EXPECT(call_named("get_input", kTVMStr, 0, "up") == kTvmErrorExecutorModuleNoSuchInput);
  static const int64_t bad[] = {-1, 2, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    EXPECT(call_named("get_input", kTVMArgInt, bad[i], NULL) == kTvmErrorFunctionCallInvalidArg);
    EXPECT(call_named("get_output", kTVMArgInt, bad[i], NULL) == kTvmErrorFunctionCallInvalidArg);
    EXPECT(call_named("get_input_name", kTVMArgInt, bad[i], NULL) == kTvmErrorFunctionCallInvalidArg);
  }
  EXPECT(call_named("get_input", kTVMArgFloat, 0, NULL) == kTvmErrorFunctionCallWrongArgType);
  EXPECT(call_named("get_output", kTVMStr, 0, "output0") == kTvmErrorFunctionCallWrongArgType);
  EXPECT(call_named("get_input_index", kTVMArgInt, 0, NULL) == kTvmErrorFunctionCallWrongArgType);
  EXPECT(call_named("get_input_name", kTVMStr, 0, "left") == kTvmErrorFunctionCallWrongArgType);
  EXPECT(call_named("get_input_info", kTVMNullptr, 0, NULL) == kTvmErrorFunctionCallNotImplemented);
  EXPECT(call_named("load_params", kTVMNullptr, 0, NULL) == kTvmErrorFunctionCallNotImplemented);
  EXPECT(call_named("set_input", kTVMArgInt, 0, NULL) == kTvmErrorFunctionCallNotImplemented);
  EXPECT(call_named("share_params", kTVMNullptr, 0, NULL) == kTvmErrorFunctionCallNotImplemented);
  fill(tensor("get_input", kTVMStr, 0, "left"), tensor("get_input", kTVMArgInt, 1, NULL));
  EXPECT(call_named("run", kTVMNullptr, 0, NULL) == 0 && ret_tcode == kTVMNullptr);
  has_run(tensor("get_output", kTVMArgInt, 0, NULL), tensor("get_output", kTVMArgInt, 1, NULL));
  run_result = kTvmErrorPlatformNoMemory;
  EXPECT(call_named("run", kTVMNullptr, 0, NULL) == kTvmErrorPlatformNoMemory);
}

int main(void) {
  an_executor_runs_its_model();
  what_is_no_model_is_not_run();
  one_executor_is_created();
  the_module_has_the_functions_of_microtvm();
  return 0;
}
