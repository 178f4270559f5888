/* SPDX-License-Identifier: Apache-2.0 */
#include <tvm/runtime/crt/internal/minrpc/rpc_memory.h>
#include <tvm/runtime/crt/platform.h>

/* A block that the host allocates is followed by its entry in the list. */
#define ENTRY_ALIGNMENT ((uint64_t)16)

/* More than any memory here has. */
#define MOST_BYTES ((uint64_t)PTRDIFF_MAX / 2u)

static const DLDevice cpu = {kDLCPU, 0};

bool TVMRPCMemory_TensorBytes(const DLTensor* tensor, uint64_t* bytes) {
  uint64_t elements = 1;
  for (int i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] < 0) {
      return false;
    }
    uint64_t dimension = (uint64_t)tensor->shape[i];
    if (dimension != 0u && elements > MOST_BYTES / dimension) {
      return false;
    }
    elements *= dimension;
  }
  uint64_t bits = (uint64_t)tensor->dtype.bits * tensor->dtype.lanes;
  if (bits != 0u && elements > MOST_BYTES / bits) {
    return false;
  }
  *bytes = (elements * bits + 7u) / 8u;
  return true;
}

static void link_block(TVMRPCMemory* memory, TVMRPCBlock* block, uint8_t* data, size_t size) {
  block->next = memory->blocks;
  block->data = data;
  block->size = size;
  block->array = NULL;
  block->references = 1;
  block->stale = 0;
  memory->blocks = block;
}

/* Where the list points to an entry, or NULL. */
static TVMRPCBlock** find(TVMRPCMemory* memory, const void* data, const void* array) {
  for (TVMRPCBlock** at = &memory->blocks; *at != NULL; at = &(*at)->next) {
    if ((const void*)(*at)->array == array && (array != NULL || (const void*)(*at)->data == data)) {
      return at;
    }
  }
  return NULL;
}

tvm_crt_error_t TVMRPCMemory_Allocate(TVMRPCMemory* memory, DLDevice device, uint64_t num_bytes,
                                      void** data) {
  static const DLDataType bytes = {kDLUInt, 8, 1};
  if (num_bytes > MOST_BYTES) {
    return kTvmErrorPlatformNoMemory;
  }
  uint64_t before = (num_bytes + ENTRY_ALIGNMENT - 1u) & ~(ENTRY_ALIGNMENT - 1u);
  int error = TVMDeviceAllocDataSpace(device, (size_t)before + sizeof(TVMRPCBlock),
                                      (size_t)ENTRY_ALIGNMENT, bytes, data);
  if (error != 0) {
    return (tvm_crt_error_t)error;
  }
  uint8_t* begin = *data;
  link_block(memory, (TVMRPCBlock*)(void*)(begin + before), begin, (size_t)num_bytes);
  return kTvmErrorNoError;
}

tvm_crt_error_t TVMRPCMemory_Free(TVMRPCMemory* memory, DLDevice device, const void* data) {
  TVMRPCBlock** at = find(memory, data, NULL);
  if (at == NULL) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  uint8_t* begin = (*at)->data;
  *at = (*at)->next;
  return (tvm_crt_error_t)TVMDeviceFreeDataSpace(device, begin);
}

tvm_crt_error_t TVMRPCMemory_Hold(TVMRPCMemory* memory, TVMArrayHandle array) {
  uint64_t bytes = 0;
  void* entry = NULL;
  TVMRPCBlock** at = find(memory, NULL, array);
  tvm_crt_error_t error = TVMRPCMemory_TensorBytes(array, &bytes) ? kTvmErrorNoError : kTvmErrorFunctionCallInvalidArg;
  if (at != NULL && error == kTvmErrorNoError) {
    ++(*at)->references;
    (*at)->data = (uint8_t*)array->data + array->byte_offset;
    (*at)->size = (size_t)bytes;
    return kTvmErrorNoError;
  }
  if (error == kTvmErrorNoError) {
    error = TVMPlatformMemoryAllocate(sizeof(TVMRPCBlock), cpu, &entry);
  }
  if (error != kTvmErrorNoError) {
    (void)TVMArrayFree(array);
    return error;
  }
  link_block(memory, entry, (uint8_t*)array->data + array->byte_offset, (size_t)bytes);
  memory->blocks->array = array;
  return kTvmErrorNoError;
}

void TVMRPCMemory_Forget(TVMRPCMemory* memory) {
  for (TVMRPCBlock* block = memory->blocks; block != NULL; block = block->next) {
    for (; block->array != NULL && block->references > 0u; --block->references) {
      (void)TVMArrayFree(block->array);
      ++block->stale;
      block->size = 0;
    }
  }
}

tvm_crt_error_t TVMRPCMemory_Release(TVMRPCMemory* memory, const void* array) {
  TVMRPCBlock** at = array == NULL ? NULL : find(memory, NULL, array);
  if (at == NULL) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  TVMRPCBlock* block = *at;
  int error = 0;
  if (block->stale > 0u) {
    --block->stale;
  } else {
    --block->references;
    error = TVMArrayFree(block->array);
  }
  if (block->references == 0u && block->stale == 0u) {
    *at = block->next;
    (void)TVMPlatformMemoryFree(block, cpu);
  }
  return (tvm_crt_error_t)error;
}

bool TVMRPCMemory_Contains(const TVMRPCMemory* memory, uint64_t address, uint64_t byte_offset,
                           uint64_t num_bytes) {
  if (num_bytes == 0u) {
    return true;
  }
  for (const TVMRPCBlock* block = memory->blocks; block != NULL; block = block->next) {
    uint64_t begin = (uint64_t)(uintptr_t)block->data;
    /* Each difference is known not to be negative. */
    if (address >= begin && address - begin <= block->size &&
        byte_offset <= block->size - (address - begin) &&
        num_bytes <= block->size - (address - begin) - byte_offset) {
      return true;
    }
  }
  return false;
}

void TVMRPCMemory_Clear(TVMRPCMemory* memory) {
  while (memory->blocks != NULL) {
    if (memory->blocks->array != NULL) {
      (void)TVMRPCMemory_Release(memory, memory->blocks->array);
    } else {
      (void)TVMRPCMemory_Free(memory, cpu, memory->blocks->data);
    }
  }
}
