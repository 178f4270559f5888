/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph executor, its JSON reader and its module, on a model written by hand.
 */
#include "graph_library.h"

#include <tvm/runtime/crt/graph_executor_module.h>

static int8_t input_data[ELEMENTS] = {1, 2, 3, -4};
static int8_t output_data[ELEMENTS];
static int64_t matrix[] = {2, 2};
static int64_t row[] = {1, 4};
static DLTensor input_tensor = {input_data, {kDLCPU, 0}, 2, {kDLInt, 8, 1}, matrix, NULL, 0};
static DLTensor output_tensor = {output_data, {kDLCPU, 0}, 2, {kDLInt, 8, 1}, row, NULL, 0};

static void outputs_are(TVMGraphExecutor* executor, int added) {
  EXPECT(TVMGraphExecutor_GetOutput(executor, 1, &output_tensor) == 0);
  for (int i = 0; i < ELEMENTS; ++i) {
    EXPECT(output_data[i] == input_data[i] + added + 1);
  }
  EXPECT(TVMGraphExecutor_GetOutput(executor, 0, &output_tensor) == 0);
  for (int i = 0; i < ELEMENTS; ++i) {
    EXPECT(output_data[i] == 2 * (input_data[i] + added + 1));
  }
}

static void a_graph_is_run(void) {
  TVMModuleHandle module = start();
  TVMGraphExecutor* executor = NULL;
  int before = platform_blocks();
  EXPECT(TVMGraphExecutor_Create(graph_json, module, &cpu, &executor) == 0);
  /* Executor, block, storages 2 to 4. */
  EXPECT(platform_blocks() == before + 5);
  EXPECT(TVMGraphExecutor_GetNumInputs(executor) == 2 && TVMGraphExecutor_GetNumOutputs(executor) == 3);
  EXPECT(TVMGraphExecutor_GetInputIndex(executor, "x\n\xc3\xa9") == 0);
  EXPECT(TVMGraphExecutor_GetInputIndex(executor, "p0") == 1);
  EXPECT(TVMGraphExecutor_GetInputIndex(executor, "p") == -1 && TVMGraphExecutor_GetInputIndex(executor, "p00") == -1);
  EXPECT(TVMGraphExecutor_GetEntryId(executor, 4, 1) == 5u);
  TVMGraphExecutor_SetInput(executor, "x\n\xc3\xa9", &input_tensor);
  EXPECT(TVMGraphExecutor_LoadParams(executor, (const char*)parameters, sizeof(parameters)) == 0);
  EXPECT(platform_blocks() == before + 6);
  EXPECT(executor->data_entry[1].dl_tensor.ndim == 0);
  TVMGraphExecutor_Run(executor);
  outputs_are(executor, 10);
  output_tensor.shape = matrix;
  EXPECT(TVMGraphExecutor_GetOutput(executor, 2, &output_tensor) == 0 && output_data[3] == -4);
  output_tensor.shape = row;
  EXPECT(TVMGraphExecutor_Release(&executor) == 0 && executor == NULL && platform_blocks() == before);
}

static void parameters_that_nobody_loads_are_zeros(void) {
  TVMModuleHandle module = start();
  TVMGraphExecutor* executor = NULL;
  EXPECT(TVMGraphExecutor_Create(graph_json, module, &cpu, &executor) == 0);
  EXPECT(TVMGraphExecutor_RunChecked(executor) == 0);
  EXPECT(TVMGraphExecutor_GetOutput(executor, 1, &output_tensor) == 0 && output_data[0] == 1);
  EXPECT(TVMGraphExecutor_Release(&executor) == 0);
}

static void errors_are_told_once(void) {
  TVMModuleHandle module = start();
  TVMGraphExecutor* executor = NULL;
  DLTensor wrong = input_tensor;
  EXPECT(TVMGraphExecutor_Create(graph_json, module, &cpu, &executor) == 0);
  TVMGraphExecutor_SetInput(executor, "y", &input_tensor);
  EXPECT(strstr(TVMGetLastError(), "no such input") != NULL);
  EXPECT(TVMGraphExecutor_RunChecked(executor) == kTvmErrorExecutorModuleNoSuchInput);
  EXPECT(TVMGraphExecutor_GetOutput(executor, 0, &output_tensor) == kTvmErrorExecutorModuleNoSuchInput);
  wrong.dtype.bits = 16;
  TVMGraphExecutor_SetInput(executor, "p0", &wrong);
  EXPECT(TVMGraphExecutor_RunChecked(executor) == kTvmErrorFunctionCallInvalidArg);
  increment_result = -1;
  TVMGraphExecutor_Run(executor);
  EXPECT(TVMGraphExecutor_GetOutput(executor, 0, &output_tensor) == -1);
  increment_result = 0;
  EXPECT(TVMGraphExecutor_RunChecked(executor) == 0);
  EXPECT(TVMGraphExecutor_GetOutput(executor, 3, &output_tensor) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMGraphExecutor_GetOutput(executor, -1, &output_tensor) == kTvmErrorFunctionCallInvalidArg);
  wrong.ndim = 1;
  EXPECT(TVMGraphExecutor_GetOutput(executor, 0, &wrong) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMGraphExecutor_Release(&executor) == 0);
}

static void memory_that_ends_is_no_harm(void) {
  int error = kTvmErrorPlatformNoMemory;
  for (int allocations = 0; error != 0; ++allocations) {
    TVMModuleHandle module = start();
    TVMGraphExecutor* executor = NULL;
    int before = platform_blocks();
    platform_fail_after(allocations);
    error = TVMGraphExecutor_Create(graph_json, module, &cpu, &executor);
    if (error == 0) {
      EXPECT(TVMGraphExecutor_RunChecked(executor) == kTvmErrorPlatformNoMemory);
      EXPECT(strcmp(TVMGetLastError(), "graph: no memory for its tensors") == 0);
      EXPECT(allocations == 5 && TVMGraphExecutor_Release(&executor) == 0);
    }
    EXPECT(error == 0 || error == kTvmErrorPlatformNoMemory);
    EXPECT(executor == NULL && platform_blocks() == before);
  }
}

/* Replaces the first place of a text in the graph, and expects that it is refused with a message. */
static void is_refused(const char* from, const char* to, int code, const char* message) {
  static char changed[sizeof(graph_json) + 64];
  TVMModuleHandle module = start();
  TVMGraphExecutor* executor = NULL;
  int before = platform_blocks();
  const char* at = strstr(graph_json, from);
  EXPECT(at != NULL);
  size_t length = (size_t)(at - graph_json);
  memcpy(changed, graph_json, length);
  strcpy(changed + length, to);
  strcat(changed, at + strlen(from));
  EXPECT(TVMGraphExecutor_Create(changed, module, &cpu, &executor) == code);
  if (strstr(TVMGetLastError(), message) == NULL) {
    (void)fprintf(stderr, "%s -> %s: %s\n", from, to, TVMGetLastError());
  }
  EXPECT(strstr(TVMGetLastError(), message) != NULL);
  EXPECT(executor == NULL && platform_blocks() == before);
}

static void wrong_graphs_are_refused(void) {
  int invalid = kTvmErrorFunctionCallInvalidArg;
  is_refused("\"heads\"", "\"tails\"", invalid, "a part is missing");
  is_refused("\"heads\"", "\"nodes\"", invalid, "it is there twice");
  is_refused("null\"", "nil\"", invalid, "op is null or tvm_op");
  is_refused("\"op\": \"null\"", "\"op\": \"a kind of more than its letters\"", invalid, "a text is too long");
  is_refused("[[0, 0, 0], [1, 0]]", "[[4, 0, 0], [1, 0]]", invalid, "no output of an earlier node");
  is_refused("[[0, 0, 0], [1, 0]]", "[[2, 0, 0], [1, 0]]", invalid, "no output of an earlier node");
  is_refused("[[0, 0, 0], [1, 0]]", "[[0, 1, 0], [1, 0]]", invalid, "no output of an earlier node");
  is_refused("[[0, 0, 0], [1, 0]]", "[[0], [1, 0]]", invalid, "[node, output, version]");
  is_refused("\"num_inputs\": \"2\"", "\"num_inputs\": \"3\"", invalid, "num_inputs or num_outputs");
  is_refused("\"num_inputs\": \"2\"", "\"num_inputs\": \"-2\"", invalid, "num_inputs or num_outputs");
  is_refused("\"num_inputs\": \"2\"", "\"num_inputs\": 2", invalid, "a text is expected");
  is_refused("\"num_outputs\": \"1\"", "\"num_outputs\": \"256\"", invalid, "num_inputs or num_outputs");
  is_refused("\"num_outputs\": \"2\"", "\"num_outputs\": \"3\"", invalid, "one item for each output");
  is_refused("\"num_outputs\": \"2\"", "\"num_outputs\": \"1\"", invalid, "one item for each output");
  is_refused("__nop", "__copy", invalid, "there is the CPU's memory only");
  is_refused("2, 2, 3, 4]", "2, 5, 3, 4]", invalid, "__nop has other memory");
  is_refused("2, 2, 3, 4]", "2, 2, 3, 6]", invalid, "a wrong storage_id");
  is_refused("[1, 4], [1, 4], [1, 4]", "[1, 8], [1, 4], [1, 4]", invalid, "__nop has other memory");
  is_refused("[[2, 2], []", "[[4611686018427387904, 8], []", invalid, "a shape is too large");
  is_refused("[[2, 2], []", "[[99999999999999999999], []", invalid, "an integer is expected");
  is_refused("[[2, 2], []", "[[-2, 2], []", invalid, "a wrong extent");
  is_refused("[[2, 2], []", "[[2.5, 2], []", invalid, "an integer is expected");
  is_refused("\"int8\"", "\"word\"", invalid, "a wrong dltype");
  is_refused("[1, 1, 1, 1, 1, 1]", "[1, 1, 2, 1, 1, 1]", invalid, "there is the CPU's memory only");
  is_refused("\"arg_nodes\": [0, 1]", "\"arg_nodes\": [1, 0]", invalid, "arg_nodes are inputs in order");
  is_refused("\"arg_nodes\": [0, 1]", "\"arg_nodes\": [0, 2]", invalid, "arg_nodes are inputs in order");
  is_refused("[4, 1, 0]", "[4, 2, 0]", invalid, "no output of an earlier node");
  is_refused("[4, 1, 0]", "[5, 0, 0]", invalid, "no output of an earlier node");
  is_refused("[0, 1, 2, 3, 4, 6]", "[0, 1, 2, 3, 5, 6]", invalid, "node_row_ptr");
  is_refused("[0, 1, 2, 3, 4, 6]", "[0, 1, 2, 3, 4]", invalid, "node_row_ptr");
  is_refused("tvmgen_add", "tvmgen_sub", kTvmErrorFunctionNameNotFound, "there is no function tvmgen_sub");
  is_refused("{\"deep\"", "[[[[[[[[[[[[[[[[[", invalid, "at byte");
  is_refused("\\n", "\\q", invalid, "a wrong character, at byte 36");
}

static void cut_graphs_and_parameters_are_refused(void) {
  static char cut[sizeof(graph_json)];
  TVMModuleHandle module = start();
  TVMGraphExecutor* executor = NULL;
  int before = platform_blocks();
  size_t whole = (size_t)(strrchr(graph_json, '}') - graph_json);
  for (size_t length = 0; length <= whole; ++length) {
    memcpy(cut, graph_json, length);
    cut[length] = '\0';
    EXPECT(TVMGraphExecutor_Create(cut, module, &cpu, &executor) == kTvmErrorFunctionCallInvalidArg);
    EXPECT(executor == NULL && platform_blocks() == before);
  }
  EXPECT(TVMGraphExecutor_Create(graph_json, module, &cpu, &executor) == 0);
  for (uint32_t size = 0; size < sizeof(parameters); ++size) {
    EXPECT(TVMGraphExecutor_LoadParams(executor, (const char*)parameters, size) == kTvmErrorFunctionCallInvalidArg);
  }
  uint8_t wrong[sizeof(parameters)];
  memcpy(wrong, parameters, sizeof(wrong));
  wrong[33] = '1';
  EXPECT(TVMGraphExecutor_LoadParams(executor, (const char*)wrong, sizeof(wrong)) == kTvmErrorExecutorModuleNoSuchInput);
  wrong[33] = '0';
  wrong[42 + 29] = 16;
  EXPECT(TVMGraphExecutor_LoadParams(executor, (const char*)wrong, sizeof(wrong)) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(strstr(TVMGetLastError(), "another element type or shape") != NULL);
  EXPECT(TVMGraphExecutor_Release(&executor) == 0);
}

/* microTVM's own test reads a graph without running it. */
static void a_graph_is_read_without_a_module(void) {
  JSONReader reader;
  TVMGraphExecutor executor;
  size_t length = 0;
  (void)start();
  memset(&executor, 0, sizeof(executor));
  executor.device = cpu;
  EXPECT(JSONReader_Create(graph_json, &reader) == kTvmErrorNoError);
  EXPECT(TVMGraphExecutor_Load(&executor, &reader) == 0 && executor.nodes_count == 5u);
  EXPECT(JSONReader_Release(&reader) == kTvmErrorNoError);
  EXPECT(JSONReader_Create("[1, [2, 3], \"]\"]", &reader) == kTvmErrorNoError);
  reader.BeginArray(&reader);
  EXPECT(reader.ArrayLength(&reader, &length) == 0 && length == 3u);
  EXPECT(reader.NextArrayItem(&reader) && reader.ReadUnsignedInteger(&reader, (unsigned int[]){0}) == 0);
  EXPECT(reader.ArrayLength(&reader, &length) == 0 && length == 2u);
}

static TVMValue ret;
static int ret_tcode;

/* Calls a function of the executor's module by its name. */
static int call(TVMModuleHandle module, const char* name, TVMValue* args, int* tcodes, int num_args) {
  TVMFunctionHandle function = NULL;
  int error = TVMModGetFunction(module, name, 0, &function);
  return error == 0 ? TVMFuncCall(function, args, tcodes, num_args, &ret, &ret_tcode) : error;
}

static void the_module_drives_an_executor(void) {
  TVMFunctionHandle create = NULL;
  TVMModuleHandle library_module = start();
  char* json = (char*)malloc(sizeof(graph_json));
  EXPECT(json != NULL && TVMGraphExecutorModule_Register() == kTvmErrorNoError);
  memcpy(json, graph_json, sizeof(graph_json));
  EXPECT(TVMFuncGetGlobal("tvm.graph_executor.create", &create) == 0 && create != NULL);
  TVMValue args[4] = {{.v_str = json}, {.v_handle = library_module}, {.v_int64 = kDLCPU}, {.v_int64 = 0}};
  int codes[4] = {kTVMStr, kTVMModuleHandle, kTVMArgInt, kTVMArgInt};
  EXPECT(TVMFuncCall(create, args, codes, 3, &ret, &ret_tcode) == kTvmErrorFunctionCallNumArguments);
  codes[2] = kTVMStr;
  EXPECT(TVMFuncCall(create, args, codes, 4, &ret, &ret_tcode) == kTvmErrorFunctionCallWrongArgType);
  codes[2] = kTVMArgInt;
  args[2].v_int64 = kDLCUDA;
  EXPECT(TVMFuncCall(create, args, codes, 4, &ret, &ret_tcode) == kTvmErrorExecutorModuleBadContext);
  args[2].v_int64 = kDLCPU;
  EXPECT(TVMFuncCall(create, args, codes, 4, &ret, &ret_tcode) == 0 && ret_tcode == kTVMModuleHandle);
  TVMModuleHandle module = ret.v_handle;
  EXPECT(TVMFuncCall(create, args, codes, 4, &ret, &ret_tcode) == kTvmErrorExecutorModuleAlreadyCreated);
  free(json);
  TVMByteArray bytes = {(const char*)parameters, sizeof(parameters)};
  TVMValue blob = {.v_handle = &bytes};
  EXPECT(call(module, "load_params", &blob, (int[]){kTVMBytes}, 1) == 0);
  TVMValue input[2] = {{.v_str = "x\n\xc3\xa9"}, {.v_handle = &input_tensor}};
  EXPECT(call(module, "set_input", input, (int[]){kTVMStr, kTVMDLTensorHandle}, 2) == 0);
  EXPECT(call(module, "get_input_index", input, (int[]){kTVMStr}, 1) == 0 && ret.v_int64 == 0);
  EXPECT(call(module, "get_num_inputs", NULL, NULL, 0) == 0 && ret.v_int64 == 2);
  EXPECT(call(module, "get_num_outputs", NULL, NULL, 0) == 0 && ret.v_int64 == 3);
  EXPECT(call(module, "run", NULL, NULL, 0) == 0);
  TVMValue index = {.v_int64 = 1};
  EXPECT(call(module, "get_output", &index, (int[]){kTVMArgInt}, 1) == 0 && ret_tcode == kTVMNDArrayHandle);
  EXPECT(((int8_t*)((DLTensor*)ret.v_handle)->data)[3] == -4 + 11);
  EXPECT(TVMArrayFree((TVMArrayHandle)ret.v_handle) == 0);
  TVMValue name = {.v_str = "p0"};
  EXPECT(call(module, "get_input", &name, (int[]){kTVMStr}, 1) == 0);
  EXPECT(((int8_t*)((DLTensor*)ret.v_handle)->data)[0] == 10);
  name.v_str = "p1";
  EXPECT(call(module, "get_input", &name, (int[]){kTVMStr}, 1) == kTvmErrorExecutorModuleNoSuchInput);
  input[0].v_str = "p1";
  EXPECT(call(module, "set_input", input, (int[]){kTVMStr, kTVMDLTensorHandle}, 2) == kTvmErrorExecutorModuleNoSuchInput);
  index.v_int64 = 3;
  EXPECT(call(module, "get_output", &index, (int[]){kTVMArgInt}, 1) == kTvmErrorExecutorModuleNoSuchInput);
  EXPECT(call(module, "get_input_info", NULL, NULL, 0) == kTvmErrorFunctionCallNotImplemented);
  EXPECT(call(module, "share_params", NULL, NULL, 0) == kTvmErrorFunctionCallNotImplemented);
  args[0].v_str = graph_json;
  EXPECT(TVMModFree(module) == 0);
  EXPECT(TVMFuncCall(create, args, codes, 4, &ret, &ret_tcode) == 0);
  args[0].v_str = "{}";
  EXPECT(TVMModFree(ret.v_handle) == 0);
  EXPECT(TVMFuncCall(create, args, codes, 4, &ret, &ret_tcode) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(platform_blocks() == 1);
}

int main(void) {
  a_graph_is_run();
  parameters_that_nobody_loads_are_zeros();
  errors_are_told_once();
  memory_that_ends_is_no_harm();
  wrong_graphs_are_refused();
  cut_graphs_and_parameters_are_refused();
  a_graph_is_read_without_a_module();
  the_module_drives_an_executor();
  DONE("ok");
  return 0;
}
