/* SPDX-License-Identifier: Apache-2.0 */
#include <crt_config.h>
#include <string.h>
#include <tvm/runtime/crt/internal/common/handles.h>
#include <tvm/runtime/crt/internal/minrpc/minrpc_server.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_arguments.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reply.h>

static void reply_result(TVMMinRPCServer* server, int error) {
  if (error == 0) {
    TVMRPCReply_Void(server->session);
  } else {
    TVMRPCReply_Error(server->session, error);
  }
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
    TVMRPCReply_Exception(server->session,
                          "the server speaks version " TVM_RPC_PROTOCOL_VERSION " of the protocol");
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

/* Whether the first arguments have these types; -1 stands for any. */
static bool are(const TVMRPCArguments* arguments, int count, int first, int second, int third) {
  const int codes[] = {first, second, third};
  if (arguments->count < count) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (codes[i] >= 0 && arguments->type_codes[i] != codes[i]) {
      return false;
    }
  }
  return true;
}

static TVMRPCStatus get_global_function(TVMMinRPCServer* server, const TVMRPCArguments* arguments) {
  TVMFunctionHandle function = NULL;
  if (!are(arguments, 1, kTVMStr, -1, -1)) {
    return kTVMRPCCheckError;
  }
  int error = TVMFuncGetGlobal(arguments->values[0].v_str, &function);
  if (error == 0) {
    TVMRPCReply_Handle(server->session, function);
  } else {
    TVMRPCReply_Error(server->session, error);
  }
  return kTVMRPCSuccess;
}

/* The arrays of a module do not outlive it; the system library stays where it is. */
static int free_module(TVMMinRPCServer* server, TVMModuleHandle module) {
  int error = TVMModFree(module);
  if (error == 0 && TVMCrt_ModuleOf(module) == NULL) {
    TVMRPCMemory_Forget(&server->memory);
  }
  return error;
}

/* Functions stay where they are, and objects there are none. */
static TVMRPCStatus free_handle(TVMMinRPCServer* server, const TVMRPCArguments* arguments) {
  if (!are(arguments, 2, kTVMOpaqueHandle, kTVMArgInt, -1)) {
    return kTVMRPCCheckError;
  }
  void* handle = arguments->values[0].v_handle;
  switch (arguments->values[1].v_int64) {
    case kTVMNDArrayHandle:
      reply_result(server, (int)TVMRPCMemory_Release(&server->memory, handle));
      return kTVMRPCSuccess;
    case kTVMModuleHandle:
      reply_result(server, free_module(server, handle));
      return kTVMRPCSuccess;
    case kTVMPackedFuncHandle:
    case kTVMObjectHandle:
      TVMRPCReply_Void(server->session);
      return kTVMRPCSuccess;
    default:
      return kTVMRPCUnknownTypeCode;
  }
}

static TVMRPCStatus allocate(TVMMinRPCServer* server, DLDevice device, uint64_t num_bytes) {
  void* data = NULL;
  if (device.device_type != kDLCPU) {
    return kTVMRPCCheckError;
  }
  tvm_crt_error_t error = TVMRPCMemory_Allocate(&server->memory, device, num_bytes, &data);
  if (error != kTvmErrorNoError) {
    return kTVMRPCAllocError;
  }
  TVMRPCReply_Handle(server->session, data);
  return kTVMRPCSuccess;
}

static TVMRPCStatus allocate_data(TVMMinRPCServer* server, const TVMRPCArguments* arguments) {
  if (!are(arguments, 3, kDLDevice, kTVMArgInt, kTVMArgInt) || arguments->values[1].v_int64 < 0) {
    return kTVMRPCCheckError;
  }
  return allocate(server, arguments->values[0].v_device, (uint64_t)arguments->values[1].v_int64);
}

/* A shape says how much; at least 64 bytes, as microTVM has it. */
static TVMRPCStatus allocate_shape(TVMMinRPCServer* server, const TVMRPCArguments* arguments) {
  uint64_t bytes = 0;
  if (!are(arguments, 1, kTVMDLTensorHandle, -1, -1)) {
    return kTVMRPCCheckError;
  }
  const DLTensor* like = arguments->values[0].v_handle;
  if (!TVMRPCMemory_TensorBytes(like, &bytes)) {
    return kTVMRPCCheckError;
  }
  return allocate(server, like->device, bytes < 64u ? 64u : bytes);
}

static TVMRPCStatus free_data(TVMMinRPCServer* server, const TVMRPCArguments* arguments) {
  if (!are(arguments, 2, kDLDevice, kTVMOpaqueHandle, -1)) {
    return kTVMRPCCheckError;
  }
  tvm_crt_error_t error = TVMRPCMemory_Free(&server->memory, arguments->values[0].v_device,
                                            arguments->values[1].v_handle);
  if (error == kTvmErrorFunctionCallInvalidArg) {
    return kTVMRPCAddressError;
  }
  reply_result(server, (int)error);
  return kTVMRPCSuccess;
}

static bool is_hosts(const TVMMinRPCServer* server, const DLTensor* tensor, uint64_t* bytes) {
  return TVMRPCMemory_TensorBytes(tensor, bytes) &&
         TVMRPCMemory_Contains(&server->memory, (uint64_t)(uintptr_t)tensor->data,
                               tensor->byte_offset, *bytes);
}

static TVMRPCStatus copy_among(TVMMinRPCServer* server, const TVMRPCArguments* arguments) {
  uint64_t from_bytes = 0;
  uint64_t to_bytes = 0;
  if (!are(arguments, 2, kTVMDLTensorHandle, kTVMDLTensorHandle, -1)) {
    return kTVMRPCCheckError;
  }
  DLTensor* from = arguments->values[0].v_handle;
  DLTensor* to = arguments->values[1].v_handle;
  if (!is_hosts(server, from, &from_bytes) || !is_hosts(server, to, &to_bytes)) {
    return kTVMRPCAddressError;
  }
  if (from_bytes != to_bytes) {
    return kTVMRPCCheckError;
  }
  if (from_bytes > 0u) {
    memmove((uint8_t*)to->data + (size_t)to->byte_offset,
            (const uint8_t*)from->data + (size_t)from->byte_offset, (size_t)from_bytes);
  }
  TVMRPCReply_Void(server->session);
  return kTVMRPCSuccess;
}

static TVMRPCStatus system_call(TVMMinRPCServer* server, uint32_t code,
                                const TVMRPCArguments* arguments) {
  switch (code) {
    case kTVMRPCGetGlobalFunc:
      return get_global_function(server, arguments);
    case kTVMRPCFreeHandle:
      return free_handle(server, arguments);
    case kTVMRPCDevSetDevice:
      TVMRPCReply_Exception(server->session, "SetDevice not supported");
      return kTVMRPCSuccess;
    case kTVMRPCDevGetAttr:
      TVMRPCReply_Exception(server->session, "GetAttr not supported");
      return kTVMRPCSuccess;
    case kTVMRPCDevAllocData:
      return allocate_data(server, arguments);
    case kTVMRPCDevFreeData:
      return free_data(server, arguments);
    case kTVMRPCCopyAmongRemote:
      return copy_among(server, arguments);
    case kTVMRPCDevAllocDataWithScope:
      return allocate_shape(server, arguments);
    case kTVMRPCDevCreateStream:
      TVMRPCReply_Handle(server->session, NULL);
      return kTVMRPCSuccess;
    case kTVMRPCDevStreamSync:
    case kTVMRPCDevFreeStream:
    case kTVMRPCDevSetStream:
      TVMRPCReply_Void(server->session); /* Everything is done when its reply is sent. */
      return kTVMRPCSuccess;
    case kTVMRPCDevGetCurrentStream:
      TVMRPCReply_Exception(server->session, "GetCurrentStream not supported");
      return kTVMRPCSuccess;
    default:
      return kTVMRPCUnknownRPCSyscall;
  }
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
    status = system_call(server, code, &arguments);
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
