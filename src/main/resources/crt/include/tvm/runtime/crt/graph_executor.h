/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a model by its graph: JSON that names the operators in a system library, and what each of them reads and writes.
 *
 * All functions that return int give 0, or an error code of error_codes.h with a text for TVMGetLastError. None of them stops the platform,
 * whatever the graph or the parameters are.
 */
#ifndef TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_
#define TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_

#include <crt_config.h>
#include <dlpack/dlpack.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the graph says of an operator. */
typedef struct TVMOpParam {
  char func_name[TVM_CRT_MAX_STRLEN_FUNCTION_NAME];
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t flatten_data;
} TVMOpParam;

typedef struct TVMGraphExecutor TVMGraphExecutor;

/* Makes an executor by TVMPlatformMemoryAllocate.
 *
 * sym_json       the graph; it must stay where it is, as names are kept as references into it
 * module_handle  the module with the operators. If it has _lookup_linked_param, that is asked for the memory of each storage id
 * devices        one device, the CPU
 *
 * Memory of what operators write is taken at once; that of an input or a parameter when it is first needed, and never where
 * TVMGraphExecutor_SetInput gives some. On an error *executor is NULL, and nothing stays allocated. */
int TVMGraphExecutor_Create(const char* sym_json, TVMModuleHandle module_handle,
                            const DLDevice* devices, TVMGraphExecutor** executor);

/* The position of an input or parameter among them, or -1 if none has this name. */
int TVMGraphExecutor_GetInputIndex(TVMGraphExecutor* executor, const char* name);

/* How many inputs and parameters there are. */
int TVMGraphExecutor_GetNumInputs(TVMGraphExecutor* executor);

/* Has an input read from the tensor's data from now on; nothing is copied. An unknown name, or a tensor of another element type or size, is
 * an error that TVMGraphExecutor_RunChecked tells. */
void TVMGraphExecutor_SetInput(TVMGraphExecutor* executor, const char* name, DLTensor* data_in);

int TVMGraphExecutor_GetNumOutputs(TVMGraphExecutor* executor);

/* Copies an output into out->data. Rank, element type and number of elements must agree. Tells the error of the last run instead, if
 * there was one. */
int TVMGraphExecutor_GetOutput(TVMGraphExecutor* executor, const int32_t index, DLTensor* out);

/* Copies parameters of a file as TVM's save_param_dict writes it. Each must be there by its name, with its element type and shape. */
int TVMGraphExecutor_LoadParams(TVMGraphExecutor* executor, const char* param_blob,
                                const uint32_t param_size);

/* Runs all operators in order. */
void TVMGraphExecutor_Run(TVMGraphExecutor* executor);

/* The same. Stops at the first operator that fails and returns what it returned; or the first error of TVMGraphExecutor_SetInput. */
int TVMGraphExecutor_RunChecked(TVMGraphExecutor* executor);

/* Gives all memory back, the last block first, and sets *executor to NULL. */
int TVMGraphExecutor_Release(TVMGraphExecutor** executor);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_GRAPH_EXECUTOR_H_ */
