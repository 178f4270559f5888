/* SPDX-License-Identifier: Apache-2.0 */
#include <crt_config.h>
#include <stdarg.h>
#include <string.h>
#include <tvm/runtime/crt/aot_executor_module.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/internal/common/rpc_hooks.h>
#include <tvm/runtime/crt/internal/minrpc/minrpc_server.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reference.h>
#include <tvm/runtime/crt/internal/minrpc/time_evaluator.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/microtvm_rpc_server.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/rpc_common/session.h>

#define LOG_BYTES 256u

struct server {
  TVMUnframer unframer;
  TVMSession session;
  TVMFrameBuffer receive_buffer;
  TVMMinRPCServer rpc;
};

/* The line to the host. Messages for people go over it before there is a server. */
static struct {
  TVMWriteStream stream;
  microtvm_rpc_channel_write_t write;
  void* context;
  TVMFramer framer;
} line;

static ssize_t line_write(TVMWriteStream* self, const uint8_t* data, size_t size) {
  (void)self;
  return line.write(line.context, data, size);
}

static void line_packet_done(TVMWriteStream* self, bool is_valid) {
  (void)self;
  (void)is_valid;
}

static void message_received(void* context, TVMSessionMessageType type, TVMFrameBuffer* buffer) {
  struct server* server = context;
  if (type == kTVMSessionStartSessionReply) {
    TVMMinRPCServer_Reset(&server->rpc);
    return;
  }
  if (buffer == NULL) {
    return;
  }
  if (type == kTVMSessionNormal && server->rpc.is_running) {
    TVMMinRPCServer_ProcessOnePacket(&server->rpc, buffer->data + buffer->read_cursor,
                                     TVMFrameBuffer_ReadAvailable(buffer));
  }
  TVMSession_ClearReceiveBuffer(&server->session);
}

static void* allocate(size_t size) {
  static const DLDevice cpu = {kDLCPU, 0};
  void* memory = NULL;
  tvm_crt_error_t error = TVMPlatformMemoryAllocate(size, cpu, &memory);
  if (error != kTvmErrorNoError) {
    TVMPlatformAbort(error);
  }
  memset(memory, 0, size);
  return memory;
}

static void require(tvm_crt_error_t error) {
  if (error != kTvmErrorNoError) {
    TVMPlatformAbort(error);
  }
}

microtvm_rpc_server_t MicroTVMRpcServerInit(microtvm_rpc_channel_write_t write_func,
                                            void* write_func_ctx) {
  uint8_t nonce = 0;
  line.write = write_func;
  line.context = write_func_ctx;
  line.stream.Write = line_write;
  line.stream.PacketDone = line_packet_done;
  TVMFramer_Init(&line.framer, &line.stream);

  require(TVMInitializeRuntime());
  require(TVMAotExecutorModule_Register());
  struct server* server = allocate(sizeof(*server));
  uint8_t* buffer = allocate(TVM_CRT_MAX_PACKET_SIZE_BYTES);
  TVMFrameBuffer_Init(&server->receive_buffer, buffer, TVM_CRT_MAX_PACKET_SIZE_BYTES);
  TVMSession_Init(&server->session, &line.framer, &server->receive_buffer, message_received, server);
  TVMUnframer_Init(&server->unframer, TVMSession_Receiver(&server->session));
  TVMMinRPCServer_Init(&server->rpc, &server->session);
  require(TVMPlatformGenerateRandom(&nonce, sizeof(nonce)));
  require(TVMSession_Initialize(&server->session, nonce));
  return server;
}

static tvm_crt_error_t receive(struct server* self, size_t size, uint8_t** data, size_t* left) {
  size_t consumed = 0;
  tvm_crt_error_t error = TVMUnframer_Write(&self->unframer, *data, size, &consumed);
  *data += consumed;
  *left -= consumed;
  return error;
}

tvm_crt_error_t MicroTVMRpcServerLoop(microtvm_rpc_server_t server, uint8_t** new_data,
                                      size_t* new_data_size_bytes) {
  struct server* self = server;
  tvm_crt_error_t error = kTvmErrorNoError;
  if (self->rpc.is_running && *new_data_size_bytes > 0u) {
    error = receive(self, *new_data_size_bytes, new_data, new_data_size_bytes);
    if (error == kTvmErrorFramingShortPacket) {
      (void)receive(self, 1, new_data, new_data_size_bytes); /* FD: a caller may give byte by byte, and each once. */
    }
  }
  if (!self->rpc.is_running) {
    return kTvmErrorPlatformShutdown;
  }
  return error == kTvmErrorFramingShortPacket ? error : kTvmErrorNoError;
}

static int time_evaluator(TVMValue* args, int* type_codes, int num_args, TVMValue* out_ret_value,
                          int* out_ret_tcode, void* resource_handle) {
  (void)resource_handle;
  return TVMTimeEvaluator_Create(args, type_codes, num_args, out_ret_value, out_ret_tcode);
}

/* The longest packet that fits into the receive buffer with the headers of message and packet. */
static int get_max_packet_size(TVMValue* args, int* type_codes, int num_args, TVMValue* out_ret_value,
                               int* out_ret_tcode, void* resource_handle) {
  (void)args;
  (void)type_codes;
  (void)num_args;
  (void)resource_handle;
  out_ret_value->v_int64 =
      TVM_CRT_MAX_PACKET_SIZE_BYTES - (int)TVM_SESSION_HEADER_BYTES - (int)TVM_RPC_LENGTH_BYTES;
  *out_ret_tcode = kTVMArgInt;
  return 0;
}

static int random_fill(TVMValue* args, int* type_codes, int num_args, TVMValue* out_ret_value,
                       int* out_ret_tcode, void* resource_handle) {
  (void)out_ret_value;
  (void)out_ret_tcode;
  (void)resource_handle;
  uint64_t bytes = 0;
  if (num_args != 1) {
    return kTvmErrorFunctionCallNumArguments;
  }
  if (type_codes[0] != kTVMDLTensorHandle) {
    return kTvmErrorFunctionCallWrongArgType;
  }
  const DLTensor* tensor = args[0].v_handle;
  if (!TVMRPCMemory_TensorBytes(tensor, &bytes)) {
    return kTvmErrorFunctionCallInvalidArg;
  }
  return bytes == 0u ? 0
                     : (int)TVMPlatformGenerateRandom((uint8_t*)tensor->data + tensor->byte_offset, (size_t)bytes);
}

tvm_crt_error_t TVMRpcHooks_RegisterGlobals(void) {
  static const struct {
    const char* name;
    TVMBackendPackedCFunc function;
  } globals[] = {{"runtime.RPCTimeEvaluator", time_evaluator},
                 {"tvm.rpc.server.GetCRTMaxPacketSize", get_max_packet_size},
                 {"tvm.contrib.random.random_fill", random_fill}};
  int error = 0;
  for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]) && error == 0; ++i) {
    error = TVMFuncRegisterGlobal(globals[i].name, (TVMFunctionHandle)(uintptr_t)globals[i].function, 0);
  }
  return (tvm_crt_error_t)error;
}

int TVMRpcHooks_CallTimeEvaluator(tvm_function_index_t evaluator, TVMValue* arg_values,
                                  int* type_codes, int num_args, TVMValue* ret_val,
                                  int* ret_type_code) {
  return TVMTimeEvaluator_Run(evaluator, arg_values, type_codes, num_args, ret_val, ret_type_code);
}

void TVMLogf(const char* fmt, ...) {
  char text[LOG_BYTES];
  va_list args;
  va_start(args, fmt);
  size_t size = TVMPlatformFormatMessage(text, sizeof(text), fmt, args);
  va_end(args);
  size = size < sizeof(text) ? size : sizeof(text) - 1u; /* Some platforms tell how long it would have been. */
  size -= size > 0u && text[size - 1u] == '\n';
  if (line.write != NULL) {
    const uint8_t header[TVM_SESSION_HEADER_BYTES] = {0, 0, kTVMSessionLog};
    (void)TVMFramer_StartPacket(&line.framer, sizeof(header) + size);
    (void)TVMFramer_WritePayloadChunk(&line.framer, header, sizeof(header));
    (void)TVMFramer_WritePayloadChunk(&line.framer, (const uint8_t*)text, size);
    (void)TVMFramer_FinishPacket(&line.framer);
  }
}
