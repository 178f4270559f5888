/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph as a whole: its five parts, in whatever order they come, and the block of memory that takes it.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_error.h>
#include <tvm/runtime/crt/internal/graph_executor/load_graph.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* The parts, in the order of reading: each one needs those before it. */
enum { NODES, ARG_NODES, HEADS, ATTRS, NODE_ROW_PTR, PARTS };
static const char part_names[PARTS][16] = {"nodes", "arg_nodes", "heads", "attrs", "node_row_ptr"};

/* The positions of inputs and parameters, ascending. */
static void read_arg_nodes(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  unsigned int node = 0;
  unsigned int least = 0;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->ReadUnsignedInteger(reader, &node) == 0) {
    TVMGraphPass_FailIf(pass, node < least || node >= pass->node, "arg_nodes are inputs in order");
    if (!pass->is_counting && reader->error == NULL) {
      TVMGraphPass_FailIf(pass, pass->executor->nodes[node].kind != TVM_GRAPH_NODE_INPUT,
                          "arg_nodes are inputs in order");
      pass->executor->input_nodes[pass->input] = node;
    }
    least = node + 1u;
    ++pass->input;
  }
}

static void read_head(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  unsigned int numbers[3] = {0, 0, 0};
  int count = 0;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader)) {
    (void)reader->ReadUnsignedInteger(reader, &numbers[count < 2 ? count : 2]);
    ++count;
  }
  TVMGraphPass_FailIf(pass, count < 2 || count > 3, "[node, output, version] is expected");
  TVMGraphPass_FailIf(pass, numbers[0] >= pass->node, "no output of an earlier node");
  if (!pass->is_counting && reader->error == NULL) {
    const uint32_t* rows = pass->executor->node_row_ptr;
    TVMGraphPass_FailIf(pass, numbers[1] >= rows[numbers[0] + 1u] - rows[numbers[0]],
                        "no output of an earlier node");
    pass->executor->outputs[pass->output] = rows[numbers[0]] + numbers[1];
  }
  ++pass->output;
}

static void read_heads(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->error == NULL) {
    read_head(pass);
  }
}

/* It says again what the nodes say. */
static void read_row_ptr(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  unsigned int row = 0;
  uint32_t count = 0;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->ReadUnsignedInteger(reader, &row) == 0) {
    int is_wrong = count > pass->node ||
                   (!pass->is_counting && row != pass->executor->node_row_ptr[count]);
    TVMGraphPass_FailIf(pass, is_wrong, "a wrong node_row_ptr");
    ++count;
  }
  TVMGraphPass_FailIf(pass, count != pass->node + 1u, "a wrong node_row_ptr");
}

static void read_parts(TVMGraphPass* pass, const JSONReader* parts) {
  static void (*const read[PARTS])(TVMGraphPass* pass) = {
      TVMGraphPass_ReadNodes, read_arg_nodes, read_heads, TVMGraphPass_ReadAttributes, read_row_ptr};
  for (int i = 0; i < PARTS && pass->reader->error == NULL; ++i) {
    *pass->reader = parts[i];
    read[i](pass);
  }
}

/* Finds the parts. Others say nothing that is needed. */
static void find_parts(JSONReader* reader, JSONReader* parts) {
  char key[TVM_GRAPH_KEY_SIZE];
  memset(parts, 0, PARTS * sizeof(*parts));
  reader->BeginObject(reader);
  while (reader->NextObjectItem(reader, key, sizeof(key)) && reader->error == NULL) {
    for (int i = 0; i < PARTS; ++i) {
      if (strcmp(key, part_names[i]) == 0) {
        if (parts[i].text != NULL) {
          JSONReader_Fail(reader, "it is there twice");
        }
        parts[i] = *reader;
      }
    }
    JSONReader_Skip(reader);
  }
  for (int i = 0; i < PARTS; ++i) {
    if (parts[i].text == NULL) {
      JSONReader_Fail(reader, "a part is missing");
    }
  }
}

/* The next part of the block; with no block, only its size is counted. */
static void* take(uint8_t* block, size_t* used, size_t count, size_t size) {
  void* part = block == NULL ? NULL : block + *used;
  *used += (count * size + 7u) / 8u * 8u;
  return part;
}

/* Divides a block among the members; returns how large it has to be. */
static size_t divide(TVMGraphExecutor* executor, uint8_t* block) {
  size_t used = 0;
  executor->arguments = (TVMValue*)take(block, &used, executor->arguments_count, sizeof(TVMValue));
  executor->shapes = (int64_t*)take(block, &used, executor->shapes_count, sizeof(int64_t));
  executor->data_entry = (TVMNDArray*)take(block, &used, executor->entries_count, sizeof(TVMNDArray));
  executor->nodes =
      (TVMGraphExecutorNode*)take(block, &used, executor->nodes_count, sizeof(TVMGraphExecutorNode));
  executor->storages = (TVMGraphExecutorStorage*)take(block, &used, executor->entries_count,
                                                      sizeof(TVMGraphExecutorStorage));
  executor->node_row_ptr =
      (uint32_t*)take(block, &used, (size_t)executor->nodes_count + 1u, sizeof(uint32_t));
  executor->input_nodes =
      (uint32_t*)take(block, &used, executor->input_nodes_count, sizeof(uint32_t));
  executor->outputs = (uint32_t*)take(block, &used, executor->outputs_count, sizeof(uint32_t));
  executor->storage_id = (uint32_t*)take(block, &used, executor->entries_count, sizeof(uint32_t));
  executor->type_codes = (int*)take(block, &used, executor->most_arguments, sizeof(int));
  return used;
}

static int allocate(TVMGraphExecutor* executor, const TVMGraphPass* counted) {
  executor->nodes_count = counted->node;
  executor->entries_count = counted->entry;
  executor->arguments_count = counted->argument;
  executor->shapes_count = counted->shape;
  executor->input_nodes_count = counted->input;
  executor->outputs_count = counted->output;
  executor->most_arguments = counted->most_arguments;
  size_t size = divide(executor, NULL);
  int error = (int)TVMPlatformMemoryAllocate(size, executor->device, &executor->block);
  if (error != 0) {
    return TVMGraphExecutor_Fail((tvm_crt_error_t)error, "graph: no memory for its nodes");
  }
  memset(executor->block, 0, size);
  (void)divide(executor, (uint8_t*)executor->block);
  for (uint32_t i = 0; i < executor->most_arguments; ++i) {
    executor->type_codes[i] = kTVMDLTensorHandle;
  }
  for (uint32_t i = 0; i < executor->entries_count; ++i) {
    executor->data_entry[i].reference_count = 1;
    executor->data_entry[i].dl_tensor.device = executor->device;
  }
  return 0;
}

/* Says what is wrong, and at which byte. */
static int fail(const JSONReader* reader) {
  char digits[] = "4294967295";
  uint32_t byte = (uint32_t)(reader->at - reader->text);
  size_t first = sizeof(digits) - 1u;
  do {
    digits[--first] = (char)('0' + byte % 10u);
    byte /= 10u;
  } while (byte > 0u);
  const char* texts[] = {"graph: ", reader->error, ", at byte ", digits + first};
  return TVMGraphExecutor_FailWith(kTvmErrorFunctionCallInvalidArg, texts, 4);
}

int TVMGraphExecutor_Load(TVMGraphExecutor* executor, JSONReader* reader) {
  JSONReader parts[PARTS];
  TVMGraphPass counting = {executor, reader, 1, 0, 0, 0, 0, 0, 0, 0};
  TVMGraphPass filling = {executor, reader, 0, 0, 0, 0, 0, 0, 0, 0};
  find_parts(reader, parts);
  read_parts(&counting, parts);
  if (reader->error != NULL) {
    return fail(reader);
  }
  int error = allocate(executor, &counting);
  if (error != 0) {
    return error;
  }
  read_parts(&filling, parts);
  return reader->error == NULL ? 0 : fail(reader);
}

TVM_CRT_SMALL_END
