/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors that own their memory, and the format in which they are stored (little-endian): kTVMNDArrayMagic and a reserved word of 64 bits,
 * device type and id, rank (32 bits each), element type (8, 8 and 16 bits), shape (64 bits each), bytes of data (64 bits), data.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_COMMON_NDARRAY_H_
#define TVM_RUNTIME_CRT_INTERNAL_COMMON_NDARRAY_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a stored tensor and a file of parameters begin with. */
static const uint64_t kTVMNDArrayMagic = 0xDD5E40F096B4A13FULL;
static const uint64_t kTVMNDArrayListMagic = 0xF7E58D4F05049CB7ULL;

typedef struct TVMNDArray {
  DLTensor dl_tensor; /* must be the first member: handles of tensors point to it */
  uint32_t reference_count;
} TVMNDArray;

/* Set in reference_count where the structure itself was allocated too, by TVMArrayAlloc. */
#define TVM_NDARRAY_IS_ALLOCATED 0x80000000u

/* All of these return 0, the error code of the platform's hook that failed, or kTvmErrorFunctionCallInvalidArg for a rank above
 * TVM_CRT_MAX_NDIM or below 0, a negative dimension, or more bytes than there are addresses. Nothing stays allocated then. */

/* A tensor with memory for its shape, no data, and one reference. */
int TVMNDArray_Create(int32_t ndim, const tvm_index_t* shape, DLDataType dtype, DLDevice dev,
                      TVMNDArray* array);

/* The same with data, all 0. */
int TVMNDArray_Empty(int32_t ndim, const tvm_index_t* shape, DLDataType dtype, DLDevice dev,
                     TVMNDArray* array);

/* A tensor with a shape of its own on the data of another, which must outlive it. TVMNDArray_Release would free that data: give back
 * dl_tensor.shape with TVMPlatformMemoryFree instead. */
int TVMNDArray_CreateView(TVMNDArray* arr, const tvm_index_t* shape, int32_t ndim, DLDataType dtype,
                          TVMNDArray* array_view);

/* Reads a stored tensor at *strm into new memory and moves *strm behind it. What it reads is trusted to be whole. */
int TVMNDArray_Load(TVMNDArray* ret, const char** strm);

/* Fills the data by TVMPlatformGenerateRandom. */
int TVMNDArray_RandomFill(TVMNDArray* arr);

/* Bytes of the data, of elements that are rounded up to whole bytes; -1 if that is no size. */
int64_t TVMNDArray_DataSizeBytes(TVMNDArray* array);

void TVMNDArray_IncrementReference(TVMNDArray* arr);

/* Returns the references that are left. */
uint32_t TVMNDArray_DecrementReference(TVMNDArray* arr);

/* Drops a reference, and frees data and shape with the last one. */
int TVMNDArray_Release(TVMNDArray* arr);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_COMMON_NDARRAY_H_ */
