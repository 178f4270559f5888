/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a model on the graph executor: program <folder> <inputs…>. The folder has graph, params and in, and gets out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_executor.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/platform.h>

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  (void)dev;
  *out_ptr = calloc(1, num_bytes == 0u ? 1u : num_bytes);
  return *out_ptr == NULL ? kTvmErrorPlatformNoMemory : kTvmErrorNoError;
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)dev;
  free(ptr);
  return kTvmErrorNoError;
}

void TVMPlatformAbort(tvm_crt_error_t code) {
  exit((int)(code & 0x7f) | 1);
}

static void check(int error, const char* what) {
  if (error != 0) {
    (void)fprintf(stderr, "%s: error 0x%04x, %s\n", what, (unsigned int)error, TVMGetLastError());
    exit(2);
  }
}

static FILE* file(const char* folder, const char* name, const char* mode) {
  char path[4096];
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* opened = fopen(path, mode);
  check(opened == NULL, path);
  return opened;
}

static char* whole(const char* folder, const char* name, size_t* size) {
  FILE* from = file(folder, name, "rb");
  check(fseek(from, 0, SEEK_END), name);
  *size = (size_t)ftell(from);
  rewind(from);
  char* text = calloc(1, *size + 1u);
  check(text == NULL || fread(text, 1, *size, from) != *size, name);
  (void)fclose(from);
  return text;
}

static size_t bytes_of(const DLTensor* tensor) {
  size_t bytes = (size_t)(tensor->dtype.bits + 7u) / 8u;
  for (int i = 0; i < tensor->ndim; ++i) {
    bytes *= (size_t)tensor->shape[i];
  }
  return bytes;
}

int main(int argc, char** argv) {
  DLDevice cpu = {kDLCPU, 0};
  TVMModuleHandle library = NULL;
  TVMGraphExecutor* executor = NULL;
  size_t size = 0;
  check(argc < 2, "arguments");
  char* graph = whole(argv[1], "graph", &size);
  check((int)TVMInitializeRuntime(), "runtime");
  check(TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &library), "system library");
  check(TVMGraphExecutor_Create(graph, library, &cpu, &executor), "create");
  char* params = whole(argv[1], "params", &size);
  check(TVMGraphExecutor_LoadParams(executor, params, (uint32_t)size), "load_params");
  char* input = whole(argv[1], "in", &size);
  char* next = input;
  for (int i = 2; i < argc; ++i) {
    int index = TVMGraphExecutor_GetInputIndex(executor, argv[i]);
    check(index < 0, argv[i]);
    TVMNDArray* array = NULL;
    check(TVMGraphExecutor_Tensor(executor, executor->node_row_ptr[executor->input_nodes[index]], &array), "input");
    memcpy(array->dl_tensor.data, next, bytes_of(&array->dl_tensor));
    next += bytes_of(&array->dl_tensor);
  }
  check(next != input + size, "inputs of another size");
  check(TVMGraphExecutor_RunChecked(executor), "run");
  FILE* out = file(argv[1], "out", "wb");
  for (int i = 0; i < TVMGraphExecutor_GetNumOutputs(executor); ++i) {
    DLTensor tensor = executor->data_entry[executor->outputs[i]].dl_tensor;
    size_t bytes = bytes_of(&tensor);
    tensor.data = malloc(bytes + 1u);
    check(TVMGraphExecutor_GetOutput(executor, i, &tensor), "get_output");
    check(fwrite(tensor.data, 1, bytes, out) != bytes, "out");
    free(tensor.data);
  }
  check(fclose(out), "out");
  check(TVMGraphExecutor_Release(&executor), "release");
  free(graph);
  free(params);
  free(input);
  return 0;
}
