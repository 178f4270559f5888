/* SPDX-License-Identifier: Apache-2.0
 *
 * The nodes of a graph: inputs, parameters and operators.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/load_graph.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* Longest number among the attributes of an operator, with the terminating zero. */
#define NUMBER_SIZE 8u
#define MOST_OUTPUTS 255u

/* A number that is written as a text. */
static uint32_t read_count(TVMGraphPass* pass, uint32_t most) {
  char digits[NUMBER_SIZE];
  uint32_t value = 0;
  (void)pass->reader->ReadString(pass->reader, digits, sizeof(digits));
  TVMGraphPass_FailIf(pass, digits[0] == '\0', "num_inputs or num_outputs");
  for (const char* c = digits; *c != '\0'; ++c) {
    TVMGraphPass_FailIf(pass, *c < '0' || *c > '9', "num_inputs or num_outputs");
    value = 10u * value + (uint32_t)(unsigned char)(*c - '0');
  }
  TVMGraphPass_FailIf(pass, value > most, "num_inputs or num_outputs");
  return pass->reader->error == NULL ? value : 0u;
}

/* The attributes of an operator; those that are not known say nothing that is needed. */
static uint32_t read_operator(TVMGraphPass* pass, TVMGraphExecutorNode* node) {
  JSONReader* reader = pass->reader;
  char key[TVM_GRAPH_KEY_SIZE];
  uint32_t num_inputs = UINT32_MAX;
  reader->BeginObject(reader);
  while (reader->NextObjectItem(reader, key, sizeof(key))) {
    if (strcmp(key, "func_name") == 0) {
      (void)JSONReader_ReadReference(reader, &node->func_name);
    } else if (strcmp(key, "num_inputs") == 0) {
      num_inputs = read_count(pass, UINT16_MAX);
    } else if (strcmp(key, "num_outputs") == 0) {
      node->num_outputs = (uint16_t)read_count(pass, MOST_OUTPUTS);
    } else {
      JSONReader_Skip(reader);
    }
  }
  return num_inputs;
}

/* One input: node, its output, and a version, which may be left out and says nothing. */
static void read_input(TVMGraphPass* pass, uint32_t argument) {
  JSONReader* reader = pass->reader;
  unsigned int numbers[3] = {0, 0, 0};
  int count = 0;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader)) {
    (void)reader->ReadUnsignedInteger(reader, &numbers[count < 2 ? count : 2]);
    ++count;
  }
  TVMGraphPass_FailIf(pass, count < 2 || count > 3, "[node, output, version] is expected");
  if (pass->is_counting || reader->error != NULL) {
    return;
  }
  const uint32_t* rows = pass->executor->node_row_ptr;
  if (numbers[0] >= pass->node || numbers[1] >= rows[numbers[0] + 1u] - rows[numbers[0]]) {
    JSONReader_Fail(reader, "no output of an earlier node");
    return;
  }
  pass->executor->arguments[argument].v_handle =
      &pass->executor->data_entry[rows[numbers[0]] + numbers[1]].dl_tensor;
}

static uint32_t read_inputs(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  uint32_t count = 0;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->error == NULL) {
    read_input(pass, pass->argument + count);
    ++count;
  }
  TVMGraphPass_FailIf(pass, count > UINT16_MAX, "num_inputs or num_outputs");
  return count;
}

/* What a node is, by its kind and its function. */
static void classify(TVMGraphPass* pass, TVMGraphExecutorNode* node, const char* op, uint32_t num_inputs) {
  if (strcmp(op, "null") == 0) {
    TVMGraphPass_FailIf(pass, node->num_inputs != 0u, "num_inputs or num_outputs");
    node->kind = TVM_GRAPH_NODE_INPUT;
    node->num_outputs = 1;
    return;
  }
  TVMGraphPass_FailIf(pass, strcmp(op, "tvm_op") != 0, "op is null or tvm_op");
  TVMGraphPass_FailIf(pass, node->func_name == NULL, "a name is missing");
  TVMGraphPass_FailIf(pass, num_inputs != node->num_inputs, "num_inputs or num_outputs");
  if (pass->reader->error != NULL) {
    return;
  }
  node->kind = TVM_GRAPH_NODE_OPERATOR;
  if (JSONReader_Equals(node->func_name, "__nop")) {
    node->kind = TVM_GRAPH_NODE_VIEW;
    TVMGraphPass_FailIf(pass, node->num_inputs != 1u || node->num_outputs != 1u, "num_inputs or num_outputs");
  }
  TVMGraphPass_FailIf(pass, JSONReader_Equals(node->func_name, "__copy"), "there is the CPU's memory only");
}

/* Adds a node with its outputs; the second pass has places for them. */
static void add_node(TVMGraphPass* pass, TVMGraphExecutorNode* node) {
  TVMGraphExecutor* executor = pass->executor;
  uint32_t outputs = node->num_outputs;
  uint32_t arguments = node->kind == TVM_GRAPH_NODE_INPUT ? 0u : node->num_inputs + outputs;
  if (!pass->is_counting) {
    node->first_argument = pass->argument;
    for (uint32_t i = 0; i < outputs && arguments > 0u; ++i) {
      executor->arguments[pass->argument + node->num_inputs + i].v_handle =
          &executor->data_entry[pass->entry + i].dl_tensor;
    }
    executor->nodes[pass->node] = *node;
    executor->node_row_ptr[pass->node + 1u] = pass->entry + outputs;
  }
  pass->argument += arguments;
  pass->entry += outputs;
  pass->most_arguments = arguments > pass->most_arguments ? arguments : pass->most_arguments;
  ++pass->node;
}

static void read_node(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  TVMGraphExecutorNode node;
  char key[TVM_GRAPH_KEY_SIZE];
  char op[TVM_GRAPH_KEY_SIZE] = "";
  uint32_t num_inputs = 0;
  memset(&node, 0, sizeof(node));
  reader->BeginObject(reader);
  while (reader->NextObjectItem(reader, key, sizeof(key))) {
    if (strcmp(key, "op") == 0) {
      (void)reader->ReadString(reader, op, sizeof(op));
    } else if (strcmp(key, "name") == 0) {
      (void)JSONReader_ReadReference(reader, &node.name);
    } else if (strcmp(key, "inputs") == 0) {
      TVMGraphPass_FailIf(pass, node.num_inputs != 0u, "it is there twice");
      node.num_inputs = (uint16_t)read_inputs(pass);
    } else if (strcmp(key, "attrs") == 0 || strcmp(key, "attr") == 0) {
      num_inputs = read_operator(pass, &node);
    } else {
      TVMGraphPass_FailIf(pass, strcmp(key, "control_deps") == 0, "control_deps");
      JSONReader_Skip(reader);
    }
  }
  TVMGraphPass_FailIf(pass, node.name == NULL, "a name is missing");
  classify(pass, &node, op, num_inputs);
  if (reader->error == NULL) {
    add_node(pass, &node);
  }
}

void TVMGraphPass_ReadNodes(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->error == NULL) {
    read_node(pass);
  }
}

TVM_CRT_SMALL_END
