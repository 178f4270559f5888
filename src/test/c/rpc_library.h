/* SPDX-License-Identifier: Apache-2.0
 *
 * A system library with a model that negates 6 bytes, and functions that return what tests ask for.
 */
#ifndef RPC_LIBRARY_H_
#define RPC_LIBRARY_H_

#include <string.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/metadata_types.h>

#define MODEL_BYTES 6

/* What the executor keeps until the next one is created: itself, its arrays, shape and data of two of them. */
#define EXECUTOR_BLOCKS 6u

static uint32_t calls_of_negate;

/* (input, output): the parameter checks that generated code makes, then the work. */
static int negate(TVMValue* args, int* type_codes, int num_args, TVMValue* out_value, int* out_code, void* resource) {
  (void)out_value;
  (void)out_code;
  (void)resource;
  if (num_args != 2) {
    TVMAPISetLastError("negate: num_args should be 2");
    return -1;
  }
  for (int i = 0; i < 2; ++i) {
    const DLTensor* tensor = args[i].v_handle;
    if (type_codes[i] != kTVMDLTensorHandle && type_codes[i] != kTVMNDArrayHandle) {
      TVMAPISetLastError("negate: Expect arg to be pointer");
      return -1;
    }
    if (tensor->ndim != 1 || tensor->shape[0] != MODEL_BYTES || tensor->dtype.bits != 8 || tensor->byte_offset != 0) {
      TVMAPISetLastError("negate: unsatisfied constraint");
      return -1;
    }
  }
  const int8_t* in = ((const DLTensor*)args[0].v_handle)->data;
  int8_t* out = ((const DLTensor*)args[1].v_handle)->data;
  for (int i = 0; i < MODEL_BYTES; ++i) {
    out[i] = (int8_t)-in[i];
  }
  ++calls_of_negate;
  return 0;
}

static int boom(TVMValue* args, int* type_codes, int num_args, TVMValue* out_value, int* out_code, void* resource) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)out_value;
  (void)out_code;
  (void)resource;
  TVMAPISetLastError("boom");
  return -1;
}

/* Fails without a message. */
static int silent(TVMValue* args, int* type_codes, int num_args, TVMValue* out_value, int* out_code, void* resource) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)out_value;
  (void)out_code;
  (void)resource;
  return kTvmErrorExecutorModuleNoSuchInput;
}

/* Returns its argument. */
static int echo(TVMValue* args, int* type_codes, int num_args, TVMValue* out_value, int* out_code, void* resource) {
  (void)resource;
  if (num_args > 0 && type_codes[0] != kTVMBytes && type_codes[0] != kTVMDLTensorHandle) {
    *out_value = args[0];
    *out_code = type_codes[0];
  }
  return 0;
}

static const int64_t model_shape[] = {MODEL_BYTES};
static const struct TVMTensorInfo model_inputs[] = {{"x", model_shape, 1, {kDLInt, 8, 1}}};
static const struct TVMTensorInfo model_outputs[] = {{"output0", model_shape, 1, {kDLInt, 8, 1}}};
static const struct TVMMetadata model_metadata = {
    1, model_inputs, 1, model_outputs, 1, NULL, 0, NULL, 0, "tvmgen_default"};

static int get_metadata(TVMValue* args, int* type_codes, int num_args, TVMValue* out_value, int* out_code,
                        void* resource) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)resource;
  out_value->v_handle = (void*)(uintptr_t)&model_metadata;
  *out_code = kTVMOpaqueHandle;
  return 0;
}

static const TVMBackendPackedCFunc library_functions[] = {negate, boom, silent, echo, negate, get_metadata};

static const TVMFuncRegistry library_registry = {
    "\x06\0negate\0boom\0silent\0echo\0tvmgen_default_run\0tvmgen_default_get_c_metadata\0", library_functions};

static const TVMModule library = {&library_registry};

const TVMModule* TVMSystemLibEntryPoint(void) {
  return &library;
}

/* A clock on which each measurement takes twice as long as the one before. */
static double next_time = 0.25;
static int timer_runs;

tvm_crt_error_t TVMPlatformTimerStart(void) {
  tvm_crt_error_t error = timer_runs ? kTvmErrorPlatformTimerBadState : kTvmErrorNoError;
  timer_runs = 1;
  return error;
}

tvm_crt_error_t TVMPlatformTimerStop(double* elapsed_time_seconds) {
  tvm_crt_error_t error = timer_runs ? kTvmErrorNoError : kTvmErrorPlatformTimerBadState;
  timer_runs = 0;
  *elapsed_time_seconds = next_time;
  next_time *= 2;
  return error;
}

#endif
