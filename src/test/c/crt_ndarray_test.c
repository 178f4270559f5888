/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors: their memory, their files, and copies.
 */
#include "crt_functions.h"

static void tensors_own_their_memory(void) {
  const tvm_index_t shape[] = {2, 3};
  const tvm_index_t flat[] = {6};
  TVMNDArray array;
  TVMNDArray view;
  platform_reset();
  EXPECT(TVMNDArray_Empty(2, shape, int16, cpu, &array) == 0 && platform_blocks() == 2);
  EXPECT(array.dl_tensor.ndim == 2 && array.dl_tensor.shape[1] == 3 && array.dl_tensor.strides == NULL);
  EXPECT(TVMNDArray_DataSizeBytes(&array) == 12 && array.reference_count == 1u);
  int16_t* data = (int16_t*)array.dl_tensor.data;
  for (size_t i = 0; i < 6; ++i) {
    EXPECT(data[i] == 0);
  }
  EXPECT(TVMNDArray_RandomFill(&array) == 0 && ((uint8_t*)data)[11] == 12u);
  EXPECT(TVMNDArray_CreateView(&array, flat, 1, int16, &view) == 0);
  EXPECT(view.dl_tensor.data == data && view.dl_tensor.shape[0] == 6);
  EXPECT(TVMPlatformMemoryFree(view.dl_tensor.shape, cpu) == kTvmErrorNoError);
  TVMNDArray_IncrementReference(&array);
  EXPECT(TVMNDArray_Release(&array) == 0 && platform_blocks() == 2 && array.reference_count == 1u);
  EXPECT(TVMNDArray_Release(&array) == 0 && platform_blocks() == 0 && array.dl_tensor.data == NULL);
  EXPECT(TVMNDArray_DecrementReference(&array) == 0u);
  EXPECT(TVMNDArray_Empty(0, NULL, int16, cpu, &array) == 0 && TVMNDArray_DataSizeBytes(&array) == 2);
  EXPECT(TVMNDArray_Release(&array) == 0 && platform_blocks() == 0);
}

static void shapes_that_cannot_be_are_refused(void) {
  const tvm_index_t negative[] = {2, -1};
  const tvm_index_t huge[] = {INT64_MAX / 2, 4, 4};
  const tvm_index_t many[TVM_CRT_MAX_NDIM + 1] = {1, 1, 1, 1, 1, 1, 1};
  TVMNDArray array;
  platform_reset();
  EXPECT(TVMNDArray_Empty(2, negative, int16, cpu, &array) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMNDArray_Empty(3, huge, int16, cpu, &array) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMNDArray_Empty(TVM_CRT_MAX_NDIM + 1, many, int16, cpu, &array) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMNDArray_Empty(-1, many, int16, cpu, &array) == kTvmErrorFunctionCallInvalidArg);
  for (int allocations = 0; allocations < 2; ++allocations) {
    platform_fail_after(allocations);
    EXPECT(TVMNDArray_Empty(1, many, int16, cpu, &array) == kTvmErrorPlatformNoMemory);
    EXPECT(platform_blocks() == 0 && array.dl_tensor.data == NULL && array.dl_tensor.shape == NULL);
  }
}

/* The bytes of a constant as TVM stores them, at an odd address. */
static const char stored[] =
    "?\x3f\xa1\xb4\x96\xf0\x40\x5e\xdd\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00"
    "\x00\x10\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"
    "\xf7\xff\x7f\x00";

static void stored_tensors_are_read(void) {
  TVMNDArray array;
  char bad[sizeof(stored)];
  const char* at = stored + 1;
  platform_reset();
  EXPECT(TVMNDArray_Load(&array, &at) == 0 && at == stored + sizeof(stored) - 1);
  EXPECT(array.dl_tensor.ndim == 2 && array.dl_tensor.shape[0] == 1 && array.dl_tensor.shape[1] == 2);
  EXPECT(array.dl_tensor.dtype.code == kDLInt && array.dl_tensor.dtype.bits == 16u);
  EXPECT(((int16_t*)array.dl_tensor.data)[0] == -9 && ((int16_t*)array.dl_tensor.data)[1] == 127);
  EXPECT(TVMNDArray_Release(&array) == 0 && platform_blocks() == 0);
  static const size_t changed[] = {1, 17, 25, 28, 33, 40, 49, 53};
  for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); ++i) {
    memcpy(bad, stored, sizeof(stored));
    bad[changed[i]] = (char)0x87;
    at = bad + 1;
    EXPECT(TVMNDArray_Load(&array, &at) == kTvmErrorFunctionCallInvalidArg);
    EXPECT(at == bad + 1 && platform_blocks() == 0);
  }
}

static void arrays_are_freed_with_their_last_reference(void) {
  const tvm_index_t shape[] = {5};
  TVMArrayHandle handle = NULL;
  platform_reset();
  EXPECT(TVMArrayAlloc(shape, 1, kDLFloat, 32, 1, kDLCPU, 0, &handle) == 0 && platform_blocks() == 3);
  EXPECT(handle->ndim == 1 && handle->dtype.bits == 32u && ((float*)handle->data)[4] == 0.0f);
  TVMNDArray_IncrementReference((TVMNDArray*)handle);
  EXPECT(TVMArrayFree(handle) == 0 && platform_blocks() == 3);
  EXPECT(TVMArrayFree(handle) == 0 && platform_blocks() == 0);
  for (int allocations = 0; allocations < 3; ++allocations) {
    platform_fail_after(allocations);
    EXPECT(TVMArrayAlloc(shape, 1, kDLFloat, 32, 1, kDLCPU, 0, &handle) == kTvmErrorPlatformNoMemory);
    EXPECT(handle == NULL && platform_blocks() == 0);
  }
}

static void bytes_are_freed_with_their_structure(void) {
  void* bytes = NULL;
  void* data = NULL;
  platform_reset();
  EXPECT(TVMPlatformMemoryAllocate(sizeof(TVMByteArray), cpu, &bytes) == kTvmErrorNoError);
  EXPECT(TVMPlatformMemoryAllocate(8, cpu, &data) == kTvmErrorNoError);
  ((TVMByteArray*)bytes)->data = (const char*)data;
  EXPECT(TVMByteArrayFree((TVMByteArray*)bytes) == 0 && platform_blocks() == 0);
}

static void data_spaces_are_rounded_up(void) {
  const int64_t shape[] = {3, 7};
  void* first = NULL;
  void* second = NULL;
  platform_reset(); /* pages of 64 bytes */
  EXPECT(TVMDeviceAllocDataSpace(cpu, 65, 1, int16, &first) == 0);
  EXPECT(TVMDeviceAllocDataSpace(cpu, 65, 128, int16, &second) == 0);
  EXPECT((uint8_t*)second - (uint8_t*)first == 128);
  EXPECT(TVMDeviceAllocDataSpaceWithScope(cpu, 2, shape, int16, "global", &first) == 0);
  EXPECT((uint8_t*)first - (uint8_t*)second == 128);
  EXPECT(TVMDeviceAllocDataSpaceWithScope(cpu, 2, shape, int16, NULL, &second) == 0);
  EXPECT((uint8_t*)second - (uint8_t*)first == 64);
  EXPECT(TVMDeviceFreeDataSpace(cpu, second) == 0 && platform_blocks() == 3);
  EXPECT(TVMDeviceAllocDataSpaceWithScope(cpu, 2, shape, int16, "texture", &second) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMDeviceAllocDataSpace(cpu, 1, 0, int16, &second) == kTvmErrorFunctionCallInvalidArg && second == NULL);
  EXPECT(TVMDeviceAllocDataSpace(cpu, SIZE_MAX, 2, int16, &second) == kTvmErrorFunctionCallInvalidArg);
  EXPECT(TVMDeviceAllocDataSpace(cpu, 1u << 20, 16, int16, &second) == kTvmErrorPlatformNoMemory && second == NULL);
  EXPECT(TVMDeviceAllocDataSpaceWithScope(cpu, 99, shape, int16, NULL, &second) == kTvmErrorFunctionCallInvalidArg);
}

static DLTensor tensor(void* data, int64_t* shape, int32_t ndim, DLDataType dtype) {
  DLTensor result;
  memset(&result, 0, sizeof(result));
  result.data = data;
  result.device = cpu;
  result.ndim = ndim;
  result.dtype = dtype;
  result.shape = shape;
  return result;
}

static void tensors_are_copied_if_they_are_dense(void) {
  int64_t shape[] = {2, 1, 2};
  int64_t four[] = {4};
  int64_t dense[] = {2, 99, 1};
  int64_t transposed[] = {1, 1, 2};
  int16_t source[] = {9, 1, 2, 3, 4};
  int16_t target[] = {0, 0, 0, 0};
  DLTensor from = tensor(source, shape, 3, int16);
  DLTensor to = tensor(target, four, 1, int16);
  from.byte_offset = 2;
  EXPECT(TVMDeviceCopyDataFromTo(&from, &to, NULL) == 0);
  EXPECT(memcmp(target, source + 1, sizeof(target)) == 0);
  from.byte_offset = 0;
  from.strides = dense;
  EXPECT(TVMDeviceCopyDataFromTo(&from, &to, NULL) == 0 && target[0] == 9);
  from.strides = transposed;
  EXPECT(TVMDeviceCopyDataFromTo(&from, &to, NULL) == kTvmErrorFunctionCallInvalidArg);
  from.strides = NULL;
  four[0] = 5;
  EXPECT(TVMDeviceCopyDataFromTo(&from, &to, NULL) == kTvmErrorFunctionCallInvalidArg);
}

static void streams_and_objects_do_nothing(void) {
  TVMStreamHandle stream = &stream;
  EXPECT(TVMStreamCreate(kDLCPU, 0, &stream) == 0 && stream == NULL);
  EXPECT(TVMSetStream(kDLCPU, 0, stream) == 0 && TVMSynchronize(kDLCPU, 0, stream) == 0);
  EXPECT(TVMStreamFree(kDLCPU, 0, stream) == 0 && TVMObjectFree(NULL) == 0);
}

int main(void) {
  tensors_own_their_memory();
  shapes_that_cannot_be_are_refused();
  stored_tensors_are_read();
  arrays_are_freed_with_their_last_reference();
  bytes_are_freed_with_their_structure();
  data_spaces_are_rounded_up();
  tensors_are_copied_if_they_are_dense();
  streams_and_objects_do_nothing();
  return 0;
}
