/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls packed functions with one thing wrong at a time and prints what they say.
 */
#include <stdio.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

int32_t tvmgen_m_run(TVMValue*, int*, int, TVMValue*, int*, void*);
int32_t MAIN(TVMValue*, int*, int, TVMValue*, int*, void*);
int32_t OPERATOR(TVMValue*, int*, int, TVMValue*, int*, void*);

static int32_t elements_x[2 * 3], elements_y[2 * 3 + 1];
static int64_t shape_x[] = {2, 1, 3}, shape_y[] = {2, 1, 3};
static int64_t strides[] = {3, 77, 1};
static DLTensor x, y;
static TVMValue args[3];
static int codes[3];

static void good(void) {
  DLTensor tensor_x = {.data = elements_x, .device = {kDLCPU, 0}, .ndim = 3, .dtype = {kDLInt, 32, 1}, .shape = shape_x};
  DLTensor tensor_y = {.data = elements_y, .device = {kDLCPU, 0}, .ndim = 3, .dtype = {kDLInt, 32, 1}, .shape = shape_y};
  x = tensor_x;
  y = tensor_y;
  shape_x[0] = 2;
  shape_x[1] = 1;
  shape_x[2] = 3;
  strides[0] = 3;
  strides[1] = 77;
  strides[2] = 1;
  args[0].v_handle = &x;
  args[1].v_handle = &y;
  args[2].v_handle = NULL;
  codes[0] = kTVMDLTensorHandle;
  codes[1] = kTVMDLTensorHandle;
  codes[2] = kTVMNullptr;
}

static void call(TVMBackendPackedCFunc function, TVMValue* a, int* c, int n) {
  TVMValue result = {.v_handle = NULL};
  int code = kTVMNullptr;
  TVMAPISetLastError("");
  int error = function(a, c, n, &result, &code, NULL);
  printf("%d %s\n", error, TVMGetLastError());
  good();
}

static void all(TVMBackendPackedCFunc function) {
  good();
  call(function, args, codes, 2);
  call(function, args, codes, 1);
  call(function, args, codes, 4);
  call(function, NULL, codes, 2);
  call(function, args, NULL, 2);
  codes[1] = kTVMArgInt;
  x.ndim = 1;
  call(function, args, codes, 2);
  codes[0] = kTVMStr;
  call(function, args, codes, 2);
  codes[0] = kTVMNullptr;
  args[0].v_handle = NULL;
  call(function, args, codes, 2);
  x.ndim = 2;
  call(function, args, codes, 2);
  x.dtype.code = kDLUInt;
  call(function, args, codes, 2);
  y.dtype.bits = 8;
  call(function, args, codes, 2);
  y.dtype.lanes = 4;
  call(function, args, codes, 2);
  shape_x[2] = 4;
  call(function, args, codes, 2);
  x.strides = strides;
  call(function, args, codes, 2);
  x.strides = strides;
  strides[0] = 4;
  call(function, args, codes, 2);
  y.byte_offset = 4;
  call(function, args, codes, 2);
  x.device.device_type = kDLCUDA;
  call(function, args, codes, 2);
  y.data = NULL;
  call(function, args, codes, 2);
  y.data = (char*)elements_y + 1;
  call(function, args, codes, 2);
  codes[0] = kTVMOpaqueHandle;
  codes[1] = kTVMNDArrayHandle;
  call(function, args, codes, 2);
}

int main(void) {
  all((TVMBackendPackedCFunc)tvmgen_m_run);
  all((TVMBackendPackedCFunc)MAIN);
  all((TVMBackendPackedCFunc)OPERATOR);
  return 0;
}
