/* SPDX-License-Identifier: Apache-2.0
 *
 * A model for tests of the graph executor: out = add(view(add(x, p0)), 1), where x has two rows of two elements and the view one row of four;
 * an operator has the second output twice the first.
 */
#ifndef GRAPH_LIBRARY_H_
#define GRAPH_LIBRARY_H_

#include <string.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>
#include <tvm/runtime/crt/module.h>

#include "check.h"
#include "crt_platform.h"

#define ELEMENTS 4

static const DLDevice cpu = {kDLCPU, 0};
static int increment_result;

static const char graph_json[] =
    "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\\n\\u00e9\", \"inputs\": []},\n"
    "  {\"op\": \"null\", \"name\": \"p0\", \"inputs\": []},\n"
    "  {\"op\": \"tvm_op\", \"name\": \"add\", \"attrs\": {\"num_outputs\": \"1\", \"num_inputs\": \"2\", \"hash\": \"5d\",\n"
    "    \"flatten_data\": \"0\", \"func_name\": \"tvmgen_add\"}, \"inputs\": [[0, 0, 0], [1, 0]]},\n"
    "  {\"op\": \"tvm_op\", \"name\": \"reshape_nop\", \"attr\": {\"num_outputs\": \"1\", \"num_inputs\": \"1\",\n"
    "    \"flatten_data\": \"0\", \"func_name\": \"__nop\"}, \"inputs\": [[2, 0, 0]]},\n"
    "  {\"op\": \"tvm_op\", \"name\": \"inc\", \"attrs\": {\"num_outputs\": \"2\", \"num_inputs\": \"1\",\n"
    "    \"flatten_data\": \"0\", \"func_name\": \"tvmgen_increment\"}, \"inputs\": [[3, 0, 0]]}],\n"
    " \"arg_nodes\": [0, 1], \"heads\": [[4, 1, 0], [4, 0, 0], [0, 0, 0]],\n"
    " \"attrs\": {\"dltype\": [\"list_str\", [\"int8\", \"int8\", \"int8\", \"int8\", \"int8\", \"int8\"]],\n"
    "  \"device_index\": [\"list_int\", [1, 1, 1, 1, 1, 1]], \"storage_id\": [\"list_int\", [0, 1, 2, 2, 3, 4]],\n"
    "  \"shape\": [\"list_shape\", [[2, 2], [], [2, 2], [1, 4], [1, 4], [1, 4]]]},\n"
    " \"node_row_ptr\": [0, 1, 2, 3, 4, 6], \"metadata\": {\"any\": [1, true, null, {\"deep\": \"]\"}]}}\n";

/* A file with p0 = 10. */
static const uint8_t parameters[] = {
    0xb7, 0x9c, 0x04, 0x05, 0x4f, 0x8d, 0xe5, 0xf7, 0, 0, 0, 0, 0, 0, 0, 0, /* magic, reserved */
    1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'p', '0',               /* names */
    1, 0, 0, 0, 0, 0, 0, 0,                                                 /* tensors */
    0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd, 0, 0, 0, 0, 0, 0, 0, 0, /* magic, reserved */
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 0,                         /* CPU, rank 0, int8 */
    1, 0, 0, 0, 0, 0, 0, 0, 10};                                            /* one byte */

static int8_t* elements_of(TVMValue* args, int index) {
  return (int8_t*)((DLTensor*)args[index].v_handle)->data;
}

static int add(TVMValue* args, int* type_codes, int num_args, TVMValue* result, int* result_code,
               void* resource_handle) {
  (void)result;
  (void)resource_handle;
  EXPECT(*result_code == kTVMNullptr && num_args == 3);
  for (int i = 0; i < num_args; ++i) {
    EXPECT(type_codes[i] == kTVMDLTensorHandle && elements_of(args, i) != NULL);
  }
  for (int i = 0; i < ELEMENTS; ++i) {
    elements_of(args, 2)[i] = (int8_t)(elements_of(args, 0)[i] + elements_of(args, 1)[0]);
  }
  return 0;
}

static int increment(TVMValue* args, int* type_codes, int num_args, TVMValue* result, int* result_code,
                     void* resource_handle) {
  (void)type_codes;
  (void)result;
  (void)result_code;
  (void)resource_handle;
  EXPECT(num_args == 3);
  for (int i = 0; i < ELEMENTS; ++i) {
    elements_of(args, 1)[i] = (int8_t)(elements_of(args, 0)[i] + 1);
    elements_of(args, 2)[i] = (int8_t)(2 * (elements_of(args, 0)[i] + 1));
  }
  return increment_result;
}

static const TVMBackendPackedCFunc library_functions[] = {add, increment};
static const TVMFuncRegistry library_registry = {"\002\000tvmgen_add\0tvmgen_increment\0", library_functions};
static const TVMModule library = {&library_registry};

const TVMModule* TVMSystemLibEntryPoint(void) {
  return &library;
}

/* Fresh memory and a fresh runtime; gives the module of the system library. */
static TVMModuleHandle start(void) {
  TVMModuleHandle module = NULL;
  increment_result = 0;
  platform_reset();
  EXPECT(TVMInitializeRuntime() == kTvmErrorNoError);
  EXPECT(TVMModCreateFromCModule(&library, &module) == 0);
  return module;
}

#endif /* GRAPH_LIBRARY_H_ */
