/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_arguments.h>
#include <tvm/runtime/crt/platform.h>

/* More dimensions than any tensor has; keeps products in range. */
#define MOST_DIMENSIONS 32u

#define WORD 8u

static const DLDevice cpu = {kDLCPU, 0};

/* Where values go. Without memory, it only counts what they need. */
struct arena {
  uint8_t* memory;
  size_t used;
};

static void* arena_take(struct arena* arena, size_t size) {
  void* taken = arena->memory == NULL ? NULL : arena->memory + arena->used;
  arena->used += (size + WORD - 1u) & ~(size_t)(WORD - 1u);
  return taken;
}

uint8_t* TVMRPCReader_Take(TVMRPCReader* reader, uint64_t num_bytes) {
  uint8_t* taken = reader->data;
  if (num_bytes > reader->size) {
    return NULL;
  }
  reader->data += num_bytes;
  reader->size -= (size_t)num_bytes;
  return taken;
}

static bool take_number(TVMRPCReader* reader, size_t size, uint64_t* value) {
  const uint8_t* bytes = TVMRPCReader_Take(reader, size);
  *value = 0;
  for (size_t i = size; bytes != NULL && i > 0u; --i) {
    *value = *value << 8 | bytes[i - 1u];
  }
  return bytes != NULL;
}

bool TVMRPCReader_U32(TVMRPCReader* reader, uint32_t* value) {
  uint64_t wide = 0;
  bool is_good = take_number(reader, sizeof(*value), &wide);
  *value = (uint32_t)wide;
  return is_good;
}

bool TVMRPCReader_U64(TVMRPCReader* reader, uint64_t* value) {
  return take_number(reader, sizeof(*value), value);
}

static bool read_device(TVMRPCReader* reader, DLDevice* device) {
  uint32_t type = 0;
  uint32_t id = 0;
  bool is_good = TVMRPCReader_U32(reader, &type) && TVMRPCReader_U32(reader, &id);
  device->device_type = (DLDeviceType)type;
  device->device_id = (int32_t)id;
  return is_good;
}

static bool read_type(TVMRPCReader* reader, DLDataType* type) {
  const uint8_t* bytes = TVMRPCReader_Take(reader, 4);
  if (bytes == NULL) {
    return false;
  }
  type->code = bytes[0];
  type->bits = bytes[1];
  type->lanes = (uint16_t)(bytes[2] | (uint32_t)bytes[3] << 8);
  return true;
}

TVMRPCStatus TVMRPCReader_Tensor(TVMRPCReader* reader, DLTensor* tensor, uint64_t* address,
                                 const uint8_t** shape) {
  uint32_t ndim = 0;
  memset(tensor, 0, sizeof(*tensor));
  if (!TVMRPCReader_U64(reader, address) || !read_device(reader, &tensor->device) ||
      !TVMRPCReader_U32(reader, &ndim) || !read_type(reader, &tensor->dtype)) {
    return kTVMRPCReadError;
  }
  /* Elements of no bits would make any tensor an empty one. */
  if (ndim > MOST_DIMENSIONS || tensor->device.device_type != kDLCPU || tensor->dtype.bits == 0u ||
      tensor->dtype.lanes == 0u) {
    return kTVMRPCCheckError;
  }
  tensor->ndim = (int32_t)ndim;
  *shape = TVMRPCReader_Take(reader, (uint64_t)ndim * WORD);
  if (*shape == NULL || !TVMRPCReader_U64(reader, &tensor->byte_offset)) {
    return kTVMRPCReadError;
  }
  tensor->data = (void*)(uintptr_t)*address;
  return (uint64_t)(uintptr_t)*address == *address ? kTVMRPCSuccess : kTVMRPCAddressError;
}

/* Whether a function may use a tensor. Elements must be aligned too: some cores fault otherwise. */
static TVMRPCStatus check_tensor(const DLTensor* tensor, const TVMRPCMemory* memory) {
  uint64_t bytes = 0;
  if (!TVMRPCMemory_TensorBytes(tensor, &bytes)) {
    return kTVMRPCCheckError;
  }
  uint64_t address = (uint64_t)(uintptr_t)tensor->data;
  uint64_t element = ((uint64_t)tensor->dtype.bits * tensor->dtype.lanes + 7u) / 8u;
  uint64_t unaligned = (address | tensor->byte_offset) & (WORD - 1u);
  if (!TVMRPCMemory_Contains(memory, address, tensor->byte_offset, bytes) ||
      (bytes > 0u && (element & 1u) == 0u && (unaligned & ((element & (0u - element)) - 1u)) != 0u)) {
    return kTVMRPCAddressError;
  }
  return kTVMRPCSuccess;
}

static TVMRPCStatus read_tensor(TVMRPCReader* reader, struct arena* arena, TVMValue* value,
                                const TVMRPCMemory* memory, bool for_function) {
  DLTensor tensor;
  uint64_t address = 0;
  const uint8_t* shape = NULL;
  TVMRPCStatus status = TVMRPCReader_Tensor(reader, &tensor, &address, &shape);
  if (status != kTVMRPCSuccess) {
    return status;
  }
  DLTensor* kept = arena_take(arena, sizeof(tensor));
  size_t shape_size = (size_t)tensor.ndim * WORD;
  int64_t* kept_shape = arena_take(arena, shape_size);
  if (arena->memory == NULL) {
    return kTVMRPCSuccess;
  }
  TVMRPCReader dimensions = {(uint8_t*)(uintptr_t)shape, shape_size};
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    uint64_t dimension = 0;
    (void)TVMRPCReader_U64(&dimensions, &dimension);
    kept_shape[i] = (int64_t)dimension;
  }
  tensor.shape = kept_shape;
  *kept = tensor;
  value->v_handle = kept;
  return for_function ? check_tensor(kept, memory) : kTVMRPCSuccess;
}

/* A text moves back by one byte, over the last one of its length, so that there is room for its terminating zero. */
static TVMRPCStatus read_text(TVMRPCReader* reader, struct arena* arena, TVMValue* value,
                              int type_code) {
  uint64_t length = 0;
  if (!TVMRPCReader_U64(reader, &length)) {
    return kTVMRPCReadError;
  }
  uint8_t* bytes = TVMRPCReader_Take(reader, length);
  if (bytes == NULL) {
    return kTVMRPCReadError;
  }
  if (type_code == kTVMBytes) {
    TVMByteArray* array = arena_take(arena, sizeof(TVMByteArray));
    if (array != NULL) {
      array->data = (const char*)bytes;
      array->size = (size_t)length;
      value->v_handle = array;
    }
  } else if (arena->memory != NULL) {
    memmove(bytes - 1, bytes, (size_t)length);
    bytes[(ptrdiff_t)length - 1] = '\0';
    value->v_str = (const char*)(bytes - 1);
  }
  return kTVMRPCSuccess;
}

static TVMRPCStatus read_handle(TVMRPCReader* reader, TVMValue* value, bool is_free) {
  uint64_t handle = 0;
  if (!TVMRPCReader_U64(reader, &handle)) {
    return kTVMRPCReadError;
  }
  value->v_handle = (void*)(uintptr_t)handle;
  bool is_address = (uint64_t)(uintptr_t)handle == handle;
  return is_address && (is_free || handle == 0u) ? kTVMRPCSuccess : kTVMRPCAddressError;
}

static TVMRPCStatus read_value(TVMRPCReader* reader, struct arena* arena, TVMValue* value,
                               int type_code, const TVMRPCMemory* memory, bool for_function) {
  uint64_t bits = 0;
  bool is_good = true;
  switch (type_code) {
    case kTVMArgInt:
    case TVM_RPC_ARG_UINT:
    case kTVMArgFloat:
    case kTVMArgBool:
      is_good = TVMRPCReader_U64(reader, &bits);
      memcpy(value, &bits, sizeof(bits));
      return is_good ? kTVMRPCSuccess : kTVMRPCReadError;
    case kTVMOpaqueHandle:
      return read_handle(reader, value, !for_function);
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle:
      return read_handle(reader, value, true); /* numbers, which the runtime looks up */
    case kTVMNullptr:
      return kTVMRPCSuccess;
    case kTVMDataType:
      is_good = read_type(reader, &value->v_type) && TVMRPCReader_Take(reader, 4) != NULL;
      return is_good ? kTVMRPCSuccess : kTVMRPCReadError;
    case kDLDevice:
      return read_device(reader, &value->v_device) ? kTVMRPCSuccess : kTVMRPCReadError;
    case kTVMDLTensorHandle:
      return read_tensor(reader, arena, value, memory, for_function);
    case kTVMStr:
    case kTVMBytes:
      return read_text(reader, arena, value, type_code);
    case kTVMObjectHandle:
      return kTVMRPCInvalidTypeCodeObject;
    case kTVMNDArrayHandle:
      return kTVMRPCInvalidTypeCodeNDArray;
    default:
      return kTVMRPCUnknownTypeCode;
  }
}

/* Reads the sequence, or counts what it needs if the arena has no memory. */
static TVMRPCStatus read_sequence(TVMRPCArguments* arguments, TVMRPCReader* reader,
                                  struct arena* arena, const TVMRPCMemory* memory,
                                  bool for_function) {
  uint32_t count = 0;
  if (!TVMRPCReader_U32(reader, &count)) {
    return kTVMRPCReadError;
  }
  TVMRPCReader codes = {TVMRPCReader_Take(reader, (uint64_t)count * sizeof(uint32_t)),
                        (size_t)count * sizeof(uint32_t)};
  if (codes.data == NULL) {
    return kTVMRPCReadError;
  }
  arguments->count = (int)count;
  arguments->values = arena_take(arena, count * sizeof(TVMValue));
  arguments->type_codes = arena_take(arena, count * sizeof(int));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t code = 0;
    TVMValue value;
    memset(&value, 0, sizeof(value));
    (void)TVMRPCReader_U32(&codes, &code);
    TVMRPCStatus status = read_value(reader, arena, &value, (int)code, memory, for_function);
    if (status != kTVMRPCSuccess) {
      return status;
    }
    if (arena->memory != NULL) {
      arguments->values[i] = value;
      arguments->type_codes[i] = (int)code;
    }
  }
  return reader->size == 0u ? kTVMRPCSuccess : kTVMRPCReadError;
}

TVMRPCStatus TVMRPCArguments_Read(TVMRPCArguments* arguments, TVMRPCReader* reader,
                                  const TVMRPCMemory* memory, bool for_function) {
  struct arena arena = {NULL, 0};
  TVMRPCReader counted = *reader;
  arguments->memory = NULL;
  TVMRPCStatus status = read_sequence(arguments, &counted, &arena, memory, for_function);
  if (status != kTVMRPCSuccess) {
    return status;
  }
  arena.memory = (uint8_t*)arguments->small;
  if (arena.used > sizeof(arguments->small)) {
    if (TVMPlatformMemoryAllocate(arena.used, cpu, &arguments->memory) != kTvmErrorNoError) {
      arguments->memory = NULL;
      return kTVMRPCAllocError;
    }
    arena.memory = arguments->memory;
  }
  arena.used = 0;
  return read_sequence(arguments, reader, &arena, memory, for_function);
}

void TVMRPCArguments_Free(TVMRPCArguments* arguments) {
  if (arguments->memory != NULL) {
    (void)TVMPlatformMemoryFree(arguments->memory, cpu);
  }
}
