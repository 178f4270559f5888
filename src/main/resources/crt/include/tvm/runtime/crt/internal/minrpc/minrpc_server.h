/* SPDX-License-Identifier: Apache-2.0
 *
 * Serves RPC packets of a session.
 */
#ifndef TVM_RUNTIME_CRT_INTERNAL_MINRPC_MINRPC_SERVER_H_
#define TVM_RUNTIME_CRT_INTERNAL_MINRPC_MINRPC_SERVER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/crt/internal/minrpc/rpc_memory.h>
#include <tvm/runtime/crt/rpc_common/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  TVMSession* session;
  TVMRPCMemory memory;
  bool is_running; /* until the host sends Shutdown */
} TVMMinRPCServer;

/* A server that answers through a session. */
void TVMMinRPCServer_Init(TVMMinRPCServer* server, TVMSession* session);

/* Serves one packet and answers it, unless it is Shutdown or has no code. The packet's bytes may change. */
void TVMMinRPCServer_ProcessOnePacket(TVMMinRPCServer* server, uint8_t* packet,
                                      size_t packet_size_bytes);

/* Takes back what an earlier host was given: memory, arrays, and modules other than the system library. */
void TVMMinRPCServer_Reset(TVMMinRPCServer* server);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_INTERNAL_MINRPC_MINRPC_SERVER_H_ */
