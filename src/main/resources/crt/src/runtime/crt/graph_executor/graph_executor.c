/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_error.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_storage.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* Looks all operators up. */
static int find_functions(TVMGraphExecutor* executor, TVMModuleHandle module) {
  char name[TVM_CRT_MAX_STRLEN_FUNCTION_NAME];
  for (uint32_t i = 0; i < executor->nodes_count; ++i) {
    TVMGraphExecutorNode* node = &executor->nodes[i];
    if (node->kind != TVM_GRAPH_NODE_OPERATOR) {
      continue;
    }
    if (!JSONReader_Copy(node->func_name, name, sizeof(name))) {
      return TVMGraphExecutor_Fail(kTvmErrorFunctionNameNotFound,
                                   "graph: a func_name is too long");
    }
    int error = TVMModGetFunction(module, name, 0, &node->function);
    if (error != 0) {
      const char* texts[] = {"graph: there is no function ", name};
      return TVMGraphExecutor_FailWith((tvm_crt_error_t)error, texts, 2);
    }
  }
  return 0;
}

static int create(TVMGraphExecutor* executor, const char* sym_json, TVMModuleHandle module) {
  JSONReader reader;
  (void)JSONReader_Create(sym_json, &reader);
  int error = TVMGraphExecutor_Load(executor, &reader);
  (void)JSONReader_Release(&reader);
  if (error == 0) {
    error = find_functions(executor, module);
  }
  return error == 0 ? TVMGraphStorage_Create(executor, module) : error;
}

int TVMGraphExecutor_Create(const char* sym_json, TVMModuleHandle module_handle,
                            const DLDevice* devices, TVMGraphExecutor** executor) {
  void* memory = NULL;
  *executor = NULL;
  if (devices[0].device_type != kDLCPU) {
    return TVMGraphExecutor_Fail(kTvmErrorExecutorModuleBadContext, "graph: there is the CPU only");
  }
  int error = (int)TVMPlatformMemoryAllocate(sizeof(TVMGraphExecutor), devices[0], &memory);
  if (error != 0) {
    return TVMGraphExecutor_Fail((tvm_crt_error_t)error, "graph: no memory for the executor");
  }
  TVMGraphExecutor* created = (TVMGraphExecutor*)memory;
  memset(created, 0, sizeof(*created));
  created->device = devices[0];
  error = create(created, sym_json, module_handle);
  if (error != 0) {
    (void)TVMGraphExecutor_Release(&created);
    return error;
  }
  *executor = created;
  return 0;
}

int TVMGraphExecutor_Release(TVMGraphExecutor** executor) {
  TVMGraphExecutor* released = *executor;
  DLDevice device = released->device;
  int first_error = TVMGraphStorage_Release(released);
  if (released->block != NULL) {
    int error = (int)TVMPlatformMemoryFree(released->block, device);
    first_error = first_error == 0 ? error : first_error;
  }
  int error = (int)TVMPlatformMemoryFree(released, device);
  *executor = NULL;
  return first_error == 0 ? error : first_error;
}

uint32_t TVMGraphExecutor_GetEntryId(TVMGraphExecutor* executor, uint32_t nid, uint32_t index) {
  return executor->node_row_ptr[nid] + index;
}

int TVMGraphExecutor_GetInputIndex(TVMGraphExecutor* executor, const char* name) {
  for (uint32_t i = 0; i < executor->input_nodes_count; ++i) {
    if (JSONReader_Equals(executor->nodes[executor->input_nodes[i]].name, name)) {
      return (int)i;
    }
  }
  return -1;
}

int TVMGraphExecutor_GetNumInputs(TVMGraphExecutor* executor) {
  return (int)executor->input_nodes_count;
}

int TVMGraphExecutor_GetNumOutputs(TVMGraphExecutor* executor) {
  return (int)executor->outputs_count;
}

static int set_input(TVMGraphExecutor* executor, const char* name, const DLTensor* data_in) {
  int index = TVMGraphExecutor_GetInputIndex(executor, name);
  if (index < 0) {
    return TVMGraphExecutor_Fail(kTvmErrorExecutorModuleNoSuchInput, "graph: there is no such input");
  }
  uint32_t entry = executor->node_row_ptr[executor->input_nodes[index]];
  if (data_in == NULL || data_in->data == NULL ||
      !TVMGraphStorage_IsSame(data_in, &executor->data_entry[entry].dl_tensor)) {
    return TVMGraphExecutor_Fail(kTvmErrorFunctionCallInvalidArg,
                                 "graph: another rank, element type or size");
  }
  TVMGraphStorage_Set(executor, entry, data_in);
  return 0;
}

void TVMGraphExecutor_SetInput(TVMGraphExecutor* executor, const char* name, DLTensor* data_in) {
  int error = set_input(executor, name, data_in);
  executor->input_error = executor->input_error == 0 ? error : executor->input_error;
}

int TVMGraphExecutor_GetOutput(TVMGraphExecutor* executor, const int32_t index, DLTensor* out) {
  TVMNDArray* array = NULL;
  if (executor->error != 0) {
    return executor->error;
  }
  if (index < 0 || (uint32_t)index >= executor->outputs_count) {
    return TVMGraphExecutor_Fail(kTvmErrorFunctionCallInvalidArg, "graph: there is no such output");
  }
  int error = TVMGraphExecutor_Tensor(executor, executor->outputs[index], &array);
  if (error != 0) {
    return error;
  }
  if (out->ndim != array->dl_tensor.ndim || !TVMGraphStorage_IsSame(out, &array->dl_tensor)) {
    return TVMGraphExecutor_Fail(kTvmErrorFunctionCallInvalidArg,
                                 "graph: another rank, element type or size");
  }
  memcpy((uint8_t*)out->data + out->byte_offset, array->dl_tensor.data, TVMGraphStorage_Size(out));
  return 0;
}

/* Inputs and parameters that nobody gave are zeros. */
static int take_inputs(TVMGraphExecutor* executor) {
  TVMNDArray* array = NULL;
  int error = 0;
  for (uint32_t i = 0; i < executor->input_nodes_count && error == 0; ++i) {
    error = TVMGraphExecutor_Tensor(executor, executor->node_row_ptr[executor->input_nodes[i]], &array);
  }
  return error;
}

static int run(TVMGraphExecutor* executor) {
  TVMValue result;
  int result_code = kTVMNullptr;
  int error = take_inputs(executor);
  for (uint32_t i = 0; i < executor->nodes_count && error == 0; ++i) {
    const TVMGraphExecutorNode* node = &executor->nodes[i];
    if (node->kind == TVM_GRAPH_NODE_OPERATOR) {
      error = TVMFuncCall(node->function, executor->arguments + node->first_argument, executor->type_codes,
                          node->num_inputs + node->num_outputs, &result, &result_code);
    }
  }
  return error;
}

int TVMGraphExecutor_RunChecked(TVMGraphExecutor* executor) {
  int error = executor->input_error;
  executor->input_error = 0;
  executor->error = error == 0 ? run(executor) : error;
  return executor->error;
}

void TVMGraphExecutor_Run(TVMGraphExecutor* executor) {
  (void)TVMGraphExecutor_RunChecked(executor);
}

TVM_CRT_SMALL_END
