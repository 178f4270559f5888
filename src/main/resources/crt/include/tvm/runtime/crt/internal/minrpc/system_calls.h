/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of the RPC protocol whose arguments are encoded like those of a function.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_SYSTEM_CALLS_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_SYSTEM_CALLS_H_

#include <stdint.h>
#include <tvm/runtime/crt/internal/minrpc/minrpc_server.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_arguments.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_reply.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Serves a call and answers it; anything but success is answered by the caller. */
TVMRPCStatus TVMMinRPCServer_SystemCall(TVMMinRPCServer* server, uint32_t code,
                                        const TVMRPCArguments* arguments);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_SYSTEM_CALLS_H_ */
