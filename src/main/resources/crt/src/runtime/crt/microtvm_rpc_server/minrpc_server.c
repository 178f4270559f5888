/* SPDX-License-Identifier: Apache-2.0 */
#include <crt_config.h>
#include <string.h>
#include <tvm/runtime/crt/internal/common/handles.h>
#include <tvm/runtime/crt/internal/minrpc/minrpc_server.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_arguments.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reply.h>
#include <tvm/runtime/crt/internal/minrpc/system_calls.h>

/* The most characters of a client's version that are told back. */
#define SHOWN 24u

/* Names both versions; characters of the client's that cannot be printed are question marks. */
static void refuse_version(TVMMinRPCServer* server, const uint8_t* text, uint64_t length) {
  static const char begin[] = "the server speaks version " TVM_RPC_PROTOCOL_VERSION " of the protocol, and the client ";
  char message[sizeof(begin) + SHOWN];
  size_t count = length < SHOWN ? (size_t)length : SHOWN;
  memcpy(message, begin, sizeof(begin) - 1u);
  for (size_t i = 0; i < count; ++i) {
    char character = (char)text[i];
    message[sizeof(begin) - 1u + i] = character > ' ' && character < 0x7f ? character : '?';
  }
  message[sizeof(begin) - 1u + count] = '\0';
  TVMRPCReply_Exception(server->session, message);
}

static TVMRPCStatus init_server(TVMMinRPCServer* server, TVMRPCReader* reader) {
  static const char version[] = TVM_RPC_PROTOCOL_VERSION;
  uint64_t length = 0;
  uint32_t count = 0;
  if (!TVMRPCReader_U64(reader, &length)) {
    return kTVMRPCReadError;
  }
  const uint8_t* text = TVMRPCReader_Take(reader, length);
  if (text == NULL || !TVMRPCReader_U32(reader, &count)) {
    return kTVMRPCReadError;
  }
  if (count != 0u || reader->size != 0u) {
    return kTVMRPCCheckError;
  }
  if (length != sizeof(version) - 1u || memcmp(text, version, sizeof(version) - 1u) != 0) {
    refuse_version(server, text, length);
  } else {
    TVMRPCReply_Void(server->session);
  }
  return kTVMRPCSuccess;
}

/* Sends what a function returned, and keeps account of arrays. */
static void reply_returned(TVMMinRPCServer* server, TVMValue value, int type_code) {
  if (type_code == kTVMNDArrayHandle) {
    tvm_crt_error_t error = TVMRPCMemory_Hold(&server->memory, value.v_handle);
    if (error != kTvmErrorNoError) {
      TVMRPCReply_Error(server->session, (int)error);
      return;
    }
  }
  TVMRPCReply_Returned(server->session, value, type_code);
  if (type_code == kTVMBytes) {
    (void)TVMByteArrayFree(value.v_handle);
  }
}

static TVMRPCStatus call_function(TVMMinRPCServer* server, TVMRPCReader* reader) {
  uint64_t handle = 0;
  TVMRPCArguments arguments;
  if (!TVMRPCReader_U64(reader, &handle)) {
    return kTVMRPCReadError;
  }
  TVMRPCStatus status = TVMRPCArguments_Read(&arguments, reader, &server->memory, true);
  if (status == kTVMRPCSuccess && (uint64_t)(uintptr_t)handle != handle) {
    status = kTVMRPCAddressError;
  }
  if (status == kTVMRPCSuccess) {
    TVMValue value;
    int type_code = kTVMNullptr;
    memset(&value, 0, sizeof(value));
    TVMAPISetLastError(""); /* A message of an earlier call is not this one's. */
    int error = TVMFuncCall((TVMFunctionHandle)(uintptr_t)handle, arguments.values,
                            arguments.type_codes, arguments.count, &value, &type_code);
    if (error == 0) {
      reply_returned(server, value, type_code);
    } else {
      TVMRPCReply_Error(server->session, error);
    }
  }
  TVMRPCArguments_Free(&arguments);
  return status;
}

/* Reads a tensor and how many bytes of it are meant, and finds them. Its shape tells nothing: the host copies in blocks. */
static TVMRPCStatus find_bytes(const TVMMinRPCServer* server, TVMRPCReader* reader, uint8_t** data,
                               uint64_t* num_bytes) {
  DLTensor tensor;
  uint64_t address = 0;
  const uint8_t* shape = NULL;
  TVMRPCStatus status = TVMRPCReader_Tensor(reader, &tensor, &address, &shape);
  if (status != kTVMRPCSuccess) {
    return status;
  }
  if (!TVMRPCReader_U64(reader, num_bytes)) {
    return kTVMRPCReadError;
  }
  if (!TVMRPCMemory_Contains(&server->memory, address, tensor.byte_offset, *num_bytes)) {
    return kTVMRPCAddressError;
  }
  *data = *num_bytes == 0u ? NULL : (uint8_t*)tensor.data + (size_t)tensor.byte_offset;
  return kTVMRPCSuccess;
}

static TVMRPCStatus copy_from_remote(TVMMinRPCServer* server, TVMRPCReader* reader) {
  uint8_t* data = NULL;
  uint64_t num_bytes = 0;
  TVMRPCStatus status = find_bytes(server, reader, &data, &num_bytes);
  if (status == kTVMRPCSuccess && reader->size != 0u) {
    status = kTVMRPCReadError;
  }
  if (status == kTVMRPCSuccess) {
    TVMRPCReply_CopyAck(server->session, data, (size_t)num_bytes);
  }
  return status;
}

static TVMRPCStatus copy_to_remote(TVMMinRPCServer* server, TVMRPCReader* reader) {
  uint8_t* data = NULL;
  uint64_t num_bytes = 0;
  TVMRPCStatus status = find_bytes(server, reader, &data, &num_bytes);
  if (status == kTVMRPCSuccess && reader->size != num_bytes) {
    status = kTVMRPCReadError;
  }
  if (status == kTVMRPCSuccess) {
    if (num_bytes > 0u) {
      memcpy(data, reader->data, (size_t)num_bytes);
    }
    TVMRPCReply_Void(server->session);
  }
  return status;
}

static TVMRPCStatus process(TVMMinRPCServer* server, uint32_t code, TVMRPCReader* reader) {
  switch (code) {
    case kTVMRPCInitServer:
      return init_server(server, reader);
    case kTVMRPCCallFunc:
      return call_function(server, reader);
    case kTVMRPCCopyFromRemote:
      return copy_from_remote(server, reader);
    case kTVMRPCCopyToRemote:
      return copy_to_remote(server, reader);
    case kTVMRPCShutdown:
      server->is_running = false;
      return kTVMRPCSuccess;
    default:
      break;
  }
  if (code < kTVMRPCSyscallStart) {
    return kTVMRPCRPCCodeNotSupported;
  }
  TVMRPCArguments arguments;
  TVMRPCStatus status = TVMRPCArguments_Read(&arguments, reader, &server->memory, false);
  if (status == kTVMRPCSuccess) {
    status = TVMMinRPCServer_SystemCall(server, code, &arguments);
  }
  TVMRPCArguments_Free(&arguments);
  return status;
}

void TVMMinRPCServer_Init(TVMMinRPCServer* server, TVMSession* session) {
  server->session = session;
  server->memory.blocks = NULL;
  server->is_running = true;
}

void TVMMinRPCServer_ProcessOnePacket(TVMMinRPCServer* server, uint8_t* packet,
                                      size_t packet_size_bytes) {
  TVMRPCReader reader = {packet, packet_size_bytes};
  TVMRPCStatus status = kTVMRPCReadError;
  uint64_t length = 0;
  uint32_t code = 0;
  if (TVMRPCReader_U64(&reader, &length) && length == reader.size) {
    if (length == 0u) {
      return;
    }
    if (TVMRPCReader_U32(&reader, &code)) {
      status = process(server, code, &reader);
    }
  }
  if (status != kTVMRPCSuccess) {
    TVMRPCReply_Refusal(server->session, status);
  }
}

void TVMMinRPCServer_Reset(TVMMinRPCServer* server) {
  TVMRPCMemory_Clear(&server->memory);
  for (tvm_module_index_t module = 0; module < TVM_CRT_MAX_REGISTERED_MODULES; ++module) {
    (void)TVMModFree(TVMCrt_ModuleHandle(module));
  }
}
