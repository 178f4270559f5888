/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of tensors: entries with one storage id share a block.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_error.h>
#include <tvm/runtime/crt/internal/graph_executor/graph_storage.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

/* Bytes of a tensor; 0 in *is_valid if there are more than addresses. */
static size_t tensor_size(const DLTensor* tensor, int* is_valid) {
  size_t size = ((size_t)tensor->dtype.bits * tensor->dtype.lanes + 7u) / 8u;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    uint64_t extent = (uint64_t)tensor->shape[i];
    if (extent != 0u && size > (SIZE_MAX >> 1) / extent) {
      *is_valid = 0;
      return 0;
    }
    size *= (size_t)extent;
  }
  return size;
}

size_t TVMGraphStorage_Size(const DLTensor* tensor) {
  int is_valid = 1;
  return tensor_size(tensor, &is_valid);
}

int TVMGraphStorage_IsSame(const DLTensor* a, const DLTensor* b) {
  return a->dtype.code == b->dtype.code && a->dtype.bits == b->dtype.bits && a->dtype.lanes == b->dtype.lanes &&
         TVMGraphStorage_Size(a) == TVMGraphStorage_Size(b);
}

/* The entries of a storage that have no memory get its block. */
static void give(TVMGraphExecutor* executor, uint32_t id) {
  for (uint32_t entry = 0; entry < executor->entries_count; ++entry) {
    DLTensor* tensor = &executor->data_entry[entry].dl_tensor;
    if (executor->storage_id[entry] == id && tensor->data == NULL) {
      tensor->data = executor->storages[id].data;
    }
  }
}

static int take(TVMGraphExecutor* executor, uint32_t id) {
  TVMGraphExecutorStorage* storage = &executor->storages[id];
  if (storage->data == NULL) {
    int error = (int)TVMPlatformMemoryAllocate(storage->size, executor->device, &storage->data);
    if (error != 0) {
      storage->data = NULL;
      return TVMGraphExecutor_Fail((tvm_crt_error_t)error, "graph: no memory for its tensors");
    }
    memset(storage->data, 0, storage->size);
    storage->is_taken = 1;
    storage->before = executor->last_storage;
    executor->last_storage = id + 1u;
  }
  give(executor, id);
  return 0;
}

/* Memory that is linked with the operators, if the module tells of some. */
static int find_linked(TVMGraphExecutor* executor, TVMModuleHandle module) {
  TVMFunctionHandle lookup = NULL;
  if (TVMModGetFunction(module, "_lookup_linked_param", 0, &lookup) != 0) {
    return 0;
  }
  for (uint32_t id = 0; id < executor->entries_count; ++id) {
    TVMValue argument = {.v_int64 = (int64_t)id};
    TVMValue result;
    int code = kTVMArgInt;
    int result_code = kTVMNullptr;
    int error = TVMFuncCall(lookup, &argument, &code, 1, &result, &result_code);
    if (error != 0) {
      return error;
    }
    if (result_code == kTVMOpaqueHandle && result.v_handle != NULL) {
      executor->storages[id].data = result.v_handle;
      give(executor, id);
    }
  }
  return 0;
}

/* Sizes of all storages; views have to have the storage of their input. */
static int measure(TVMGraphExecutor* executor) {
  int is_valid = 1;
  for (uint32_t entry = 0; entry < executor->entries_count; ++entry) {
    TVMGraphExecutorStorage* storage = &executor->storages[executor->storage_id[entry]];
    size_t size = tensor_size(&executor->data_entry[entry].dl_tensor, &is_valid);
    storage->size = size > storage->size ? size : storage->size;
  }
  for (uint32_t i = 0; i < executor->nodes_count; ++i) {
    if (executor->nodes[i].kind == TVM_GRAPH_NODE_VIEW) {
      uint32_t view = executor->node_row_ptr[i];
      uint32_t viewed = TVMGraphStorage_Viewed(executor, i);
      is_valid &= executor->storage_id[view] == executor->storage_id[viewed] &&
                  TVMGraphStorage_IsSame(&executor->data_entry[view].dl_tensor,
                                         &executor->data_entry[viewed].dl_tensor);
    }
  }
  return is_valid ? 0
                  : TVMGraphExecutor_Fail(kTvmErrorFunctionCallInvalidArg,
                                          "graph: a shape is too large, or __nop has other memory");
}

uint32_t TVMGraphStorage_Viewed(const TVMGraphExecutor* executor, uint32_t node) {
  const TVMNDArray* input =
      (const TVMNDArray*)executor->arguments[executor->nodes[node].first_argument].v_handle;
  return (uint32_t)(input - executor->data_entry);
}

int TVMGraphStorage_Create(TVMGraphExecutor* executor, TVMModuleHandle module) {
  int error = measure(executor);
  if (error == 0) {
    error = find_linked(executor, module);
  }
  for (uint32_t i = 0; i < executor->nodes_count && error == 0; ++i) {
    if (executor->nodes[i].kind != TVM_GRAPH_NODE_OPERATOR) {
      continue;
    }
    for (uint32_t entry = executor->node_row_ptr[i]; entry < executor->node_row_ptr[i + 1u] && error == 0; ++entry) {
      error = take(executor, executor->storage_id[entry]);
    }
  }
  return error;
}

int TVMGraphExecutor_Tensor(TVMGraphExecutor* executor, uint32_t entry, TVMNDArray** out) {
  *out = &executor->data_entry[entry];
  return (*out)->dl_tensor.data == NULL ? take(executor, executor->storage_id[entry]) : 0;
}

void TVMGraphStorage_Set(TVMGraphExecutor* executor, uint32_t entry, const DLTensor* from) {
  DLTensor* tensor = &executor->data_entry[entry].dl_tensor;
  tensor->data = (uint8_t*)from->data + from->byte_offset;
  for (uint32_t i = 0; i < executor->nodes_count; ++i) {
    if (executor->nodes[i].kind == TVM_GRAPH_NODE_VIEW) {
      executor->data_entry[executor->node_row_ptr[i]].dl_tensor.data =
          executor->data_entry[TVMGraphStorage_Viewed(executor, i)].dl_tensor.data;
    }
  }
}

int TVMGraphStorage_Release(TVMGraphExecutor* executor) {
  int first_error = 0;
  while (executor->last_storage > 0u) {
    TVMGraphExecutorStorage* storage = &executor->storages[executor->last_storage - 1u];
    int error = (int)TVMPlatformMemoryFree(storage->data, executor->device);
    first_error = first_error == 0 ? error : first_error;
    executor->last_storage = storage->before;
  }
  return first_error;
}

TVM_CRT_SMALL_END
