/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <tvm/runtime/crt/internal/common/handles.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reply.h>
#include <tvm/runtime/crt/internal/minrpc/system_calls.h>

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

/* The arrays of a module do not outlive it; the system library and the global functions stay where they are. */
static int free_module(TVMMinRPCServer* server, TVMModuleHandle module) {
  bool is_module = TVMCrt_ModuleOf(module) != NULL;
  int error = TVMModFree(module);
  if (is_module && TVMCrt_ModuleOf(module) == NULL) {
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
      TVMRPCReply_Result(server->session, (int)TVMRPCMemory_Release(&server->memory, handle));
      return kTVMRPCSuccess;
    case kTVMModuleHandle:
      TVMRPCReply_Result(server->session, free_module(server, handle));
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
  TVMRPCReply_Result(server->session, (int)error);
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

TVMRPCStatus TVMMinRPCServer_SystemCall(TVMMinRPCServer* server, uint32_t code,
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
