/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reply.h>

#define WORD 8u
#define CODE_BYTES 4u

/* What generated code returns; only its message tells more. */
#define FAILED (-1)

/* Bytes of a tensor's fields beside its shape. */
#define TENSOR_BYTES 32u

static void put(TVMSession* session, const void* data, size_t size) {
  if (size > 0u) {
    (void)TVMSession_SendBodyChunk(session, data, size);
  }
}

static void put_u32(TVMSession* session, uint32_t value) {
  uint8_t bytes[sizeof(value)];
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    bytes[i] = (uint8_t)(value >> 8u * i & 0xffu);
  }
  put(session, bytes, sizeof(bytes));
}

static void put_u64(TVMSession* session, uint64_t value) {
  put_u32(session, (uint32_t)(value & 0xffffffffu));
  put_u32(session, (uint32_t)(value >> 32));
}

/* Begins a packet whose body has this many bytes. */
static void start(TVMSession* session, TVMRPCCode code, uint64_t size) {
  uint64_t length = TVM_RPC_CODE_BYTES + size;
  (void)TVMSession_StartMessage(session, kTVMSessionNormal, (size_t)length + TVM_RPC_LENGTH_BYTES);
  put_u64(session, length);
  put_u32(session, (uint32_t)code);
}

/* Begins a packed sequence whose values have this many bytes. */
static void start_sequence(TVMSession* session, TVMRPCCode code, const int* type_codes,
                           uint32_t count, uint64_t values_size) {
  start(session, code, CODE_BYTES + (uint64_t)count * CODE_BYTES + values_size);
  put_u32(session, count);
  for (uint32_t i = 0; i < count; ++i) {
    put_u32(session, (uint32_t)type_codes[i]);
  }
}

static void finish(TVMSession* session) {
  (void)TVMSession_FinishMessage(session);
}

static uint64_t address_of(const void* pointer) {
  return (uint64_t)(uintptr_t)pointer;
}

void TVMRPCReply_Void(TVMSession* session) {
  static const int codes[] = {kTVMNullptr};
  start_sequence(session, kTVMRPCReturn, codes, 1, 0);
  finish(session);
}

void TVMRPCReply_Handle(TVMSession* session, const void* handle) {
  static const int codes[] = {kTVMOpaqueHandle};
  start_sequence(session, kTVMRPCReturn, codes, 1, WORD);
  put_u64(session, address_of(handle));
  finish(session);
}

void TVMRPCReply_CopyAck(TVMSession* session, const uint8_t* data, size_t num_bytes) {
  start(session, kTVMRPCCopyAck, num_bytes);
  put(session, data, num_bytes);
  finish(session);
}

/* Text or bytes, with the original type code before them if there is one. */
static void put_text(TVMSession* session, int type_code, const void* data, size_t size) {
  const int codes[] = {kTVMArgInt, type_code};
  start_sequence(session, kTVMRPCReturn, codes, 2, WORD + WORD + (uint64_t)size);
  put_u64(session, (uint64_t)type_code);
  put_u64(session, size);
  put(session, data, size);
  finish(session);
}

static void put_array(TVMSession* session, const DLTensor* array) {
  static const int codes[] = {kTVMArgInt, kTVMDLTensorHandle, kTVMOpaqueHandle};
  uint64_t shape_size = (uint64_t)array->ndim * WORD;
  start_sequence(session, kTVMRPCReturn, codes, 3, WORD + TENSOR_BYTES + shape_size + WORD);
  put_u64(session, kTVMNDArrayHandle);
  put_u64(session, address_of(array->data));
  put_u32(session, (uint32_t)array->device.device_type);
  put_u32(session, (uint32_t)array->device.device_id);
  put_u32(session, (uint32_t)array->ndim);
  put_u32(session, array->dtype.code | (uint32_t)array->dtype.bits << 8 |
                       (uint32_t)array->dtype.lanes << 16);
  for (int i = 0; i < array->ndim; ++i) {
    put_u64(session, (uint64_t)array->shape[i]);
  }
  put_u64(session, array->byte_offset);
  put_u64(session, address_of(array));
  finish(session);
}

/* Eight bytes, or none of a null pointer. */
static void put_word(TVMSession* session, int original, int type_code, uint64_t bits) {
  const int codes[] = {kTVMArgInt, type_code};
  bool is_null = type_code == kTVMNullptr;
  start_sequence(session, kTVMRPCReturn, codes, 2, is_null ? WORD : WORD + WORD);
  put_u64(session, (uint64_t)original);
  if (!is_null) {
    put_u64(session, bits);
  }
  finish(session);
}

void TVMRPCReply_Returned(TVMSession* session, TVMValue value, int type_code) {
  const TVMByteArray* bytes = value.v_handle;
  switch (type_code) {
    case kTVMNullptr:
    case kTVMArgInt:
    case TVM_RPC_ARG_UINT:
    case kTVMArgFloat:
    case kTVMArgBool:
    case kDLDevice:
      put_word(session, type_code, type_code, (uint64_t)value.v_int64);
      return;
    case kTVMDataType:
      put_word(session, type_code, type_code, (uint64_t)value.v_int64 & 0xffffffffu);
      return;
    case kTVMOpaqueHandle:
    case kTVMObjectHandle:
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle:
      put_word(session, type_code, kTVMOpaqueHandle, address_of(value.v_handle));
      return;
    case kTVMStr:
      put_text(session, kTVMStr, value.v_str, strlen(value.v_str));
      return;
    case kTVMBytes:
      put_text(session, kTVMBytes, bytes->data, bytes->size);
      return;
    case kTVMNDArrayHandle:
      put_array(session, value.v_handle);
      return;
    default:
      TVMRPCReply_Refusal(session, kTVMRPCUnknownTypeCode);
      return;
  }
}

/* A text in up to four parts. */
static void put_exception(TVMSession* session, const char* const parts[4]) {
  static const int codes[] = {kTVMStr};
  uint64_t length = 0;
  for (size_t i = 0; i < 4u; ++i) {
    length += strlen(parts[i]);
  }
  start_sequence(session, kTVMRPCException, codes, 1, WORD + length);
  put_u64(session, length);
  for (size_t i = 0; i < 4u; ++i) {
    put(session, parts[i], strlen(parts[i]));
  }
  finish(session);
}

void TVMRPCReply_Exception(TVMSession* session, const char* text) {
  const char* const parts[4] = {text, "", "", ""};
  put_exception(session, parts);
}

void TVMRPCReply_Error(TVMSession* session, int error) {
  char number[] = "error 0x00000000";
  size_t first = sizeof(number) - 9u; /* of eight digits; codes of the runtime have four */
  size_t digits = ((uint32_t)error >> 16) == 0u ? 4u : 8u;
  for (size_t i = 0; i < digits; ++i) {
    uint32_t digit = (uint32_t)error >> 4u * (digits - 1u - i) & 0xfu;
    number[first + i] = "0123456789abcdef"[digit];
  }
  number[first + digits] = '\0';
  const char* message = TVMGetLastError();
  bool has_message = message[0] != '\0';
  bool has_number = error != FAILED || !has_message;
  const char* const parts[4] = {message, has_message && has_number ? " (" : "", has_number ? number : "",
                                has_message && has_number ? ")" : ""};
  put_exception(session, parts);
}

void TVMRPCReply_Refusal(TVMSession* session, TVMRPCStatus status) {
  static const char* const texts[] = {
      "Success",
      "InvalidTypeCodeObject",
      "InvalidTypeCodeNDArray",
      "InvalidDLTensorFieldStride",
      "InvalidDLTensorFieldByteOffset",
      "UnknownTypeCode",
      "UnknownRPCCode",
      "RPCCodeNotSupported",
      "Syscall not recognized",
      "CheckError: wrong arguments",
      "ReadError: the packet has another length than its content",
      "WriteError",
      "AllocError: not enough memory",
      "address outside the memory that the server allocated",
  };
  TVMRPCReply_Exception(session, texts[status]);
}

void TVMRPCReply_Result(TVMSession* session, int error) {
  if (error == 0) {
    TVMRPCReply_Void(session);
  } else {
    TVMRPCReply_Error(session, error);
  }
}
