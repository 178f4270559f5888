/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes replies straight to the line, without a buffer. What cannot be sent is lost; the host notices by its time-out.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_REPLY_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_REPLY_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reference.h>
#include <tvm/runtime/crt/rpc_common/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nothing. */
void TVMRPCReply_Void(TVMSession* session);

/* A handle or an address. */
void TVMRPCReply_Handle(TVMSession* session, const void* handle);

/* What a function returned: its type code, the value, and of an array the handle to free. */
void TVMRPCReply_Returned(TVMSession* session, TVMValue value, int type_code);

/* Bytes that the host asked for. */
void TVMRPCReply_CopyAck(TVMSession* session, const uint8_t* data, size_t num_bytes);

/* That something failed: a text. */
void TVMRPCReply_Exception(TVMSession* session, const char* text);

/* That something failed, by the code of the runtime, with the message that TVMGetLastError has. */
void TVMRPCReply_Error(TVMSession* session, int error);

/* Nothing for 0, else the error. */
void TVMRPCReply_Result(TVMSession* session, int error);

/* That a packet was refused, by the reason. */
void TVMRPCReply_Refusal(TVMSession* session, TVMRPCStatus status);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_RPC_REPLY_H_ */
