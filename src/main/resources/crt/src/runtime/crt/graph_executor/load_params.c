/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of a file: magic and a reserved word, number of names and the names, each with its length, number of tensors and the tensors;
 * numbers of 64 bits, little-endian.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_error.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_storage.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* What is left of a file. */
typedef struct {
  const char* at;
  size_t left;
} blob_t;

static int cut(void) {
  return TVMGraphExecutor_Fail(kTvmErrorFunctionCallInvalidArg, "parameters: the file is cut");
}

/* The next bytes, or NULL if there are not as many. */
static const char* take(blob_t* blob, uint64_t size) {
  if (size > blob->left) {
    return NULL;
  }
  const char* taken = blob->at;
  blob->at += size;
  blob->left -= (size_t)size;
  return taken;
}

static int take_number(blob_t* blob, uint64_t* number) {
  const char* bytes = take(blob, sizeof(*number));
  if (bytes == NULL) {
    return 0;
  }
  memcpy(number, bytes, sizeof(*number));
  return 1;
}

/* The entry of the input or parameter whose name has these bytes, or -1. */
static int64_t find(const TVMGraphExecutor* executor, const char* name, size_t length) {
  char text[TVM_CRT_MAX_STRLEN_PARAM_NAME];
  if (length >= sizeof(text) || memchr(name, '\0', length) != NULL) {
    return -1;
  }
  memcpy(text, name, length);
  text[length] = '\0';
  for (uint32_t i = 0; i < executor->input_nodes_count; ++i) {
    uint32_t node = executor->input_nodes[i];
    if (JSONReader_Equals(executor->nodes[node].name, text)) {
      return executor->node_row_ptr[node];
    }
  }
  return -1;
}

/* What a stored tensor begins with. */
typedef struct {
  uint64_t magic;
  uint64_t reserved;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  DLDataType dtype;
} stored_t;

/* Reads a tensor, and copies its data if there is an entry to copy it to. */
static int load(TVMGraphExecutor* executor, blob_t* blob, int64_t entry) {
  stored_t stored;
  TVMNDArray* array = NULL;
  uint64_t size = 0;
  const char* bytes = take(blob, sizeof(stored));
  if (bytes == NULL) {
    return cut();
  }
  memcpy(&stored, bytes, sizeof(stored));
  if (stored.magic != kTVMNDArrayMagic || stored.device_type != kDLCPU || stored.ndim < 0) {
    return cut();
  }
  const char* shape = take(blob, (uint64_t)stored.ndim * sizeof(int64_t));
  const char* data = shape != NULL && take_number(blob, &size) ? take(blob, size) : NULL;
  if (data == NULL) {
    return cut();
  }
  const DLTensor* tensor = &executor->data_entry[entry].dl_tensor;
  if (memcmp(&stored.dtype, &tensor->dtype, sizeof(stored.dtype)) != 0 || stored.ndim != tensor->ndim ||
      (stored.ndim > 0 && memcmp(shape, tensor->shape, (size_t)stored.ndim * sizeof(int64_t)) != 0) ||
      size != TVMGraphStorage_Size(tensor)) {
    return TVMGraphExecutor_Fail(kTvmErrorFunctionCallInvalidArg,
                                 "parameters: another element type or shape");
  }
  int error = TVMGraphExecutor_Tensor(executor, (uint32_t)entry, &array);
  if (error == 0) {
    memcpy(array->dl_tensor.data, data, (size_t)size);
  }
  return error;
}

int TVMGraphExecutor_LoadParams(TVMGraphExecutor* executor, const char* param_blob,
                                const uint32_t param_size) {
  blob_t blob = {param_blob, param_size};
  blob_t names;
  uint64_t magic = 0;
  uint64_t reserved = 0;
  uint64_t count = 0;
  uint64_t tensors = 0;
  uint64_t length = 0;
  if (!take_number(&blob, &magic) || magic != kTVMNDArrayListMagic || !take_number(&blob, &reserved) ||
      !take_number(&blob, &count)) {
    return cut();
  }
  names = blob;
  for (uint64_t i = 0; i < count; ++i) {
    if (!take_number(&blob, &length) || take(&blob, length) == NULL) {
      return cut();
    }
  }
  if (!take_number(&blob, &tensors) || tensors != count) {
    return cut();
  }
  for (uint64_t i = 0; i < count; ++i) {
    (void)take_number(&names, &length);
    int64_t entry = find(executor, take(&names, length), (size_t)length);
    if (entry < 0) {
      return TVMGraphExecutor_Fail(kTvmErrorExecutorModuleNoSuchInput,
                                   "parameters: the graph has no such name");
    }
    int error = load(executor, &blob, entry);
    if (error != 0) {
      return error;
    }
  }
  return blob.left == 0u ? 0 : cut();
}

TVM_CRT_SMALL_END
