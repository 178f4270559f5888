/* SPDX-License-Identifier: Apache-2.0
 *
 * What a graph executor consists of. Everything but the blocks of the tensors lies in one block of memory:
 *
 *   executor | arguments | shapes | entries | nodes | storages | rows, inputs, outputs, storage ids | type codes
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_EXECUTOR_H_
#define TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_EXECUTOR_H_

#include <tvm/runtime/crt/graph_executor.h>
#include <tvm/runtime/crt/internal/common/ndarray.h>
#include <tvm/runtime/crt/internal/graph_executor/load_json.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TVM_GRAPH_NODE_INPUT,    /* an input or a parameter */
  TVM_GRAPH_NODE_OPERATOR, /* a function */
  TVM_GRAPH_NODE_VIEW      /* __nop: its output has the memory of its input */
} TVMGraphExecutorNodeKind;

typedef struct TVMGraphExecutorNode {
  const char* name;      /* in the JSON, behind the quote */
  const char* func_name; /* likewise */
  TVMFunctionHandle function;
  uint32_t first_argument; /* inputs, then outputs */
  uint16_t num_inputs;
  uint16_t num_outputs;
  uint8_t kind;
} TVMGraphExecutorNode;

typedef struct TVMGraphExecutorStorage {
  void* data; /* NULL until it is needed */
  size_t size;
  uint32_t before; /* the storage that was taken before, plus 1; 0 for the first */
  uint8_t is_taken; /* whether data is to be given back */
} TVMGraphExecutorStorage;

struct TVMGraphExecutor {
  DLDevice device;
  void* block;
  TVMValue* arguments;
  int64_t* shapes;
  TVMNDArray* data_entry;
  TVMGraphExecutorNode* nodes;
  TVMGraphExecutorStorage* storages;
  uint32_t* node_row_ptr; /* first entry of each node, and the number of entries */
  uint32_t* input_nodes;
  uint32_t* outputs; /* entries */
  uint32_t* storage_id; /* of each entry */
  int* type_codes; /* as many as an operator has arguments */
  uint32_t nodes_count;
  uint32_t entries_count;
  uint32_t arguments_count;
  uint32_t shapes_count;
  uint32_t input_nodes_count;
  uint32_t outputs_count;
  uint32_t most_arguments;
  uint32_t last_storage; /* taken last, plus 1 */
  int input_error;       /* of the first input since the last run that could not be set */
  int error;             /* of the last run */
};

/* Bytes that an executor of such a graph takes beside its tensors, and the table of functions of the runtime. Parts of the block are rounded
 * up to 8 bytes. */
#define TVM_GRAPH_EXECUTOR_BYTES(nodes, entries, arguments, most_arguments, extents, inputs, outputs)       \
  (TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES + sizeof(TVMGraphExecutor) +                                    \
   (arguments) * sizeof(TVMValue) + (extents) * sizeof(int64_t) +                                          \
   (entries) * (sizeof(TVMNDArray) + sizeof(TVMGraphExecutorStorage) + sizeof(uint32_t)) +                 \
   (nodes) * (sizeof(TVMGraphExecutorNode) + sizeof(uint32_t)) + (1u + (inputs) + (outputs)) * sizeof(uint32_t) + \
   (most_arguments) * sizeof(int) + 80u)

uint32_t TVMGraphExecutor_GetEntryId(TVMGraphExecutor* executor, uint32_t nid, uint32_t index);

/* Reads a graph into an executor whose members are all 0, but for its device. It takes the block; functions and tensors have none yet. */
int TVMGraphExecutor_Load(TVMGraphExecutor* executor, JSONReader* reader);

/* The tensor of an entry, with memory. */
int TVMGraphExecutor_Tensor(TVMGraphExecutor* executor, uint32_t entry, TVMNDArray** out);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_GRAPH_EXECUTOR_GRAPH_EXECUTOR_H_ */
