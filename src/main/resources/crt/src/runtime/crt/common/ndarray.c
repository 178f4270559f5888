/* SPDX-License-Identifier: Apache-2.0 */
#include <crt_config.h>
#include <string.h>
#include <tvm/runtime/crt/internal/common/ndarray.h>
#include <tvm/runtime/crt/platform.h>

/* Bytes of a tensor's data. Returns 0, or kTvmErrorFunctionCallInvalidArg if it has no shape that the runtime can hold. */
static int data_size(int32_t ndim, const tvm_index_t* shape, DLDataType dtype, size_t* size) {
  size_t bytes = ((size_t)dtype.bits * dtype.lanes + 7u) / 8u;
  if (ndim < 0 || ndim > TVM_CRT_MAX_NDIM) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  for (int32_t i = 0; i < ndim; ++i) {
    if (shape[i] < 0 || (uint64_t)shape[i] > SIZE_MAX) {
      return kTvmErrorFunctionCallInvalidArg;
    }
    size_t extent = (size_t)shape[i];
    if (extent != 0u && bytes > (SIZE_MAX >> 1) / extent) {
      return kTvmErrorFunctionCallInvalidArg;
    }
    bytes *= extent;
  }
  *size = bytes;
  return 0;
}

int TVMNDArray_Create(int32_t ndim, const tvm_index_t* shape, DLDataType dtype, DLDevice dev,
                      TVMNDArray* array) {
  size_t size = 0;
  void* shape_memory = NULL;
  memset(array, 0, sizeof(*array));
  int error = data_size(ndim, shape, dtype, &size);
  if (error != 0) {
    return error;
  }
  /* A scalar has a block too, so that there is one to free. */
  size_t extents = ndim == 0 ? 1u : (size_t)ndim;
  error = (int)TVMPlatformMemoryAllocate(extents * sizeof(tvm_index_t), dev, &shape_memory);
  if (error != 0) {
    return error;
  }
  array->dl_tensor.shape = (int64_t*)shape_memory;
  if (ndim > 0) {
    memcpy(array->dl_tensor.shape, shape, (size_t)ndim * sizeof(tvm_index_t));
  }
  array->dl_tensor.ndim = ndim;
  array->dl_tensor.dtype = dtype;
  array->dl_tensor.device = dev;
  array->reference_count = 1;
  return 0;
}

int TVMNDArray_Empty(int32_t ndim, const tvm_index_t* shape, DLDataType dtype, DLDevice dev,
                     TVMNDArray* array) {
  int error = TVMNDArray_Create(ndim, shape, dtype, dev, array);
  if (error != 0) {
    return error;
  }
  size_t size = (size_t)TVMNDArray_DataSizeBytes(array);
  error = (int)TVMPlatformMemoryAllocate(size, dev, &array->dl_tensor.data);
  if (error != 0) {
    (void)TVMPlatformMemoryFree(array->dl_tensor.shape, dev);
    memset(array, 0, sizeof(*array));
    return error;
  }
  memset(array->dl_tensor.data, 0, size);
  return 0;
}

int TVMNDArray_CreateView(TVMNDArray* arr, const tvm_index_t* shape, int32_t ndim, DLDataType dtype,
                          TVMNDArray* array_view) {
  int error = TVMNDArray_Create(ndim, shape, dtype, arr->dl_tensor.device, array_view);
  if (error == 0) {
    array_view->dl_tensor.data = arr->dl_tensor.data;
    array_view->dl_tensor.byte_offset = arr->dl_tensor.byte_offset;
  }
  return error;
}

/* Reads bytes that need not be aligned. */
static void take(void* target, const char** from, size_t size) {
  memcpy(target, *from, size);
  *from += size;
}

int TVMNDArray_Load(TVMNDArray* ret, const char** strm) {
  const char* at = *strm;
  uint64_t magic = 0;
  uint64_t reserved = 0;
  int32_t device[2] = {0, 0};
  int32_t ndim = 0;
  DLDataType dtype = {0, 0, 0};
  tvm_index_t shape[TVM_CRT_MAX_NDIM];
  int64_t stored_size = 0;
  DLDevice cpu = {kDLCPU, 0};
  memset(ret, 0, sizeof(*ret));
  take(&magic, &at, sizeof(magic));
  take(&reserved, &at, sizeof(reserved));
  take(device, &at, sizeof(device));
  take(&ndim, &at, sizeof(ndim));
  take(&dtype, &at, sizeof(dtype));
  if (magic != kTVMNDArrayMagic || device[0] != kDLCPU || ndim < 0 || ndim > TVM_CRT_MAX_NDIM) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  take(shape, &at, (size_t)ndim * sizeof(tvm_index_t));
  take(&stored_size, &at, sizeof(stored_size));
  size_t size = 0;
  int error = data_size(ndim, shape, dtype, &size);
  if (error != 0 || (uint64_t)stored_size != size) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  error = TVMNDArray_Empty(ndim, shape, dtype, cpu, ret);
  if (error == 0) {
    take(ret->dl_tensor.data, &at, size);
    *strm = at;
  }
  return error;
}

int TVMNDArray_RandomFill(TVMNDArray* arr) {
  int64_t size = TVMNDArray_DataSizeBytes(arr);
  if (size < 0) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  uint8_t* data = (uint8_t*)arr->dl_tensor.data + arr->dl_tensor.byte_offset;
  return (int)TVMPlatformGenerateRandom(data, (size_t)size);
}

int64_t TVMNDArray_DataSizeBytes(TVMNDArray* array) {
  const DLTensor* tensor = &array->dl_tensor;
  size_t size = 0;
  return data_size(tensor->ndim, tensor->shape, tensor->dtype, &size) == 0 ? (int64_t)size : -1;
}

void TVMNDArray_IncrementReference(TVMNDArray* arr) {
  ++arr->reference_count;
}

uint32_t TVMNDArray_DecrementReference(TVMNDArray* arr) {
  if ((arr->reference_count & ~TVM_NDARRAY_IS_ALLOCATED) > 0u) {
    --arr->reference_count;
  }
  return arr->reference_count & ~TVM_NDARRAY_IS_ALLOCATED;
}

int TVMNDArray_Release(TVMNDArray* arr) {
  DLDevice dev = arr->dl_tensor.device;
  if (TVMNDArray_DecrementReference(arr) > 0u) {
    return 0;
  }
  /* The data was taken after the shape. */
  int error = (int)TVMPlatformMemoryFree(arr->dl_tensor.data, dev);
  if (error == 0) {
    arr->dl_tensor.data = NULL;
    error = (int)TVMPlatformMemoryFree(arr->dl_tensor.shape, dev);
  }
  if (error == 0) {
    arr->dl_tensor.shape = NULL;
  }
  return error;
}
