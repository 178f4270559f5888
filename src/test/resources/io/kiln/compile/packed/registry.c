/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs every model of a system library on inputs from one file and writes its outputs to another, all found by name: metadata first, then the
 * function that runs the model. Each runs twice; the second time with an argument for its workspace, as TVM's executor has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/metadata_types.h>

#define MOST_TENSORS 16

static const char* name_at(uint16_t index) {
  const char* name = TVMSystemLibEntryPoint()->registry->names + 2;
  for (uint16_t i = 0; i < index; ++i) {
    name += strlen(name) + 1;
  }
  return name;
}

static uint16_t count(void) {
  const char* names = TVMSystemLibEntryPoint()->registry->names;
  return (uint16_t)((uint8_t)names[0] | (uint8_t)names[1] << 8);
}

static TVMBackendPackedCFunc find(const char* module, const char* suffix) {
  for (uint16_t i = 0; i < count(); ++i) {
    const char* name = name_at(i);
    if (strncmp(name, module, strlen(module)) == 0 && strcmp(name + strlen(module), suffix) == 0) {
      return TVMSystemLibEntryPoint()->registry->funcs[i];
    }
  }
  exit(5);
}

static size_t bytes_of(const DLTensor* tensor) {
  size_t bytes = (tensor->dtype.bits + 7u) / 8u;
  for (int32_t k = 0; k < tensor->ndim; ++k) {
    bytes *= (size_t)tensor->shape[k];
  }
  return bytes;
}

static DLTensor tensor_of(const struct TVMTensorInfo* info) {
  DLTensor tensor = {.device = {kDLCPU, 0}, .ndim = (int32_t)info->num_shape, .dtype = info->dtype, .shape = (int64_t*)info->shape};
  tensor.data = malloc(bytes_of(&tensor));
  return tensor;
}

static void run(const struct TVMMetadata* model, FILE* in, FILE* out) {
  DLTensor tensors[MOST_TENSORS];
  TVMValue args[MOST_TENSORS];
  int codes[MOST_TENSORS];
  int inputs = (int)model->num_inputs;
  int all = inputs + (int)model->num_outputs;
  for (int i = 0; i < all; ++i) {
    tensors[i] = tensor_of(i < inputs ? &model->inputs[i] : &model->outputs[i - inputs]);
    args[i].v_handle = &tensors[i];
    codes[i] = i % 2 == 0 ? kTVMDLTensorHandle : kTVMNDArrayHandle;
    if (i < inputs && fread(tensors[i].data, 1, bytes_of(&tensors[i]), in) != bytes_of(&tensors[i])) exit(3);
  }
  TVMBackendPackedCFunc entry = find(model->mod_name, "_run");
  for (int further = 0; further <= (model->num_workspace_pools > 0); ++further) {
    TVMValue result = {.v_handle = NULL};
    int code = kTVMNullptr;
    args[all].v_handle = NULL;
    codes[all] = kTVMNullptr;
    if (entry(args, codes, all + further, &result, &code, NULL) != 0) {
      fprintf(stderr, "%s\n", TVMGetLastError());
      exit(4);
    }
    if (code != kTVMNullptr || result.v_handle != NULL) exit(6);
    for (int i = inputs; i < all; ++i) {
      fwrite(tensors[i].data, 1, bytes_of(&tensors[i]), out);
    }
  }
  for (int i = 0; i < all; ++i) {
    free(tensors[i].data);
  }
}

int main(int argc, char** argv) {
  FILE* in = fopen(argv[1], "rb");
  FILE* out = fopen(argv[2], "wb");
  if (argc != 3 || in == NULL || out == NULL) return 2;
  for (uint16_t i = 0; i < count(); ++i) {
    const char* name = name_at(i);
    puts(name);
    if (strlen(name) > 15 && strcmp(name + strlen(name) - 15, "_get_c_metadata") == 0) {
      TVMValue result;
      int code;
      if (TVMSystemLibEntryPoint()->registry->funcs[i](NULL, NULL, 0, &result, &code, NULL) != 0) return 7;
      const struct TVMMetadata* model = (const struct TVMMetadata*)result.v_handle;
      if (code != kTVMOpaqueHandle || model->version != 1 || model->num_constant_pools != 0) return 8;
      run(model, in, out);
    }
  }
  if (name_at(count())[0] != '\0') return 9;
  fclose(in);
  return fclose(out);
}
