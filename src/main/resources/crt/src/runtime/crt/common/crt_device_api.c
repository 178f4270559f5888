/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors and memory for callers outside generated code. The only device is the CPU.
 */
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/internal/common/ndarray.h>
#include <tvm/runtime/crt/platform.h>

/* What TVMDeviceAllocDataSpaceWithScope rounds up to. */
#define SCOPE_ALIGNMENT 64u

int TVMArrayAlloc(const tvm_index_t* shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, TVMArrayHandle* out) {
  void* memory = NULL;
  DLDataType dtype = {(uint8_t)dtype_code, (uint8_t)dtype_bits, (uint16_t)dtype_lanes};
  DLDevice dev;
  dev.device_type = (DLDeviceType)device_type;
  dev.device_id = device_id;
  *out = NULL;
  int error = (int)TVMPlatformMemoryAllocate(sizeof(TVMNDArray), dev, &memory);
  if (error != 0) {
    return error;
  }
  TVMNDArray* array = (TVMNDArray*)memory;
  error = TVMNDArray_Empty(ndim, shape, dtype, dev, array);
  if (error != 0) {
    (void)TVMPlatformMemoryFree(memory, dev);
    return error;
  }
  array->reference_count |= TVM_NDARRAY_IS_ALLOCATED;
  *out = &array->dl_tensor;
  return 0;
}

int TVMArrayFree(TVMArrayHandle handle) {
  TVMNDArray* array = (TVMNDArray*)handle;
  DLDevice dev = array->dl_tensor.device;
  int error = TVMNDArray_Release(array);
  /* Without references, only the mark is left. */
  return error == 0 && array->reference_count == TVM_NDARRAY_IS_ALLOCATED
             ? (int)TVMPlatformMemoryFree(array, dev)
             : error;
}

int TVMByteArrayFree(TVMByteArray* arr) {
  DLDevice cpu = {kDLCPU, 0};
  int error = (int)TVMPlatformMemoryFree((void*)(uintptr_t)arr->data, cpu);
  return error == 0 ? (int)TVMPlatformMemoryFree(arr, cpu) : error;
}

int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment, DLDataType type_hint,
                            void** out_data) {
  (void)type_hint;
  *out_data = NULL;
  if (alignment == 0u || nbytes > SIZE_MAX - (alignment - 1u)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  size_t rounded = (nbytes + alignment - 1u) / alignment * alignment;
  return (int)TVMPlatformMemoryAllocate(rounded, dev, out_data);
}

int TVMDeviceAllocDataSpaceWithScope(DLDevice dev, int ndim, const int64_t* shape, DLDataType dtype,
                                     const char* mem_scope, void** out_data) {
  TVMNDArray array;
  size_t alignment = (size_t)(dtype.bits / 8u) * dtype.lanes;
  *out_data = NULL;
  if (mem_scope != NULL && mem_scope[0] != '\0' && strncmp(mem_scope, "global", 6) != 0) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  memset(&array, 0, sizeof(array));
  array.dl_tensor.ndim = ndim;
  array.dl_tensor.shape = (int64_t*)(uintptr_t)shape;
  array.dl_tensor.dtype = dtype;
  int64_t size = TVMNDArray_DataSizeBytes(&array);
  if (size < 0) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  if (alignment < SCOPE_ALIGNMENT) {
    alignment = SCOPE_ALIGNMENT;
  }
  return TVMDeviceAllocDataSpace(dev, (size_t)size, alignment, dtype, out_data);
}

int TVMDeviceFreeDataSpace(DLDevice dev, void* ptr) {
  return (int)TVMPlatformMemoryFree(ptr, dev);
}

/* Whether the elements lie behind each other; the stride of a dimension of 1 does not matter. */
static int is_dense(const DLTensor* tensor) {
  int64_t expected = 1;
  for (int32_t i = tensor->ndim - 1; tensor->strides != NULL && i >= 0; --i) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != expected) {
      return 0;
    }
    expected *= tensor->shape[i];
  }
  return 1;
}

static int64_t size_of(const DLTensor* tensor) {
  TVMNDArray array;
  array.dl_tensor = *tensor;
  return TVMNDArray_DataSizeBytes(&array);
}

int TVMDeviceCopyDataFromTo(DLTensor* from, DLTensor* to, TVMStreamHandle stream) {
  int64_t size = size_of(from);
  (void)stream;
  if (size < 0 || size != size_of(to) || !is_dense(from) || !is_dense(to)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  memmove((uint8_t*)to->data + to->byte_offset, (const uint8_t*)from->data + from->byte_offset,
          (size_t)size);
  return 0;
}

int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle* out) {
  (void)device_type;
  (void)device_id;
  *out = NULL;
  return 0;
}

int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream) {
  (void)device_type;
  (void)device_id;
  (void)stream;
  return 0;
}

int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle) {
  return TVMStreamFree(device_type, device_id, handle);
}

int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream) {
  return TVMStreamFree(device_type, device_id, stream);
}

int TVMObjectFree(TVMObjectHandle obj) {
  (void)obj;
  return 0;
}
