/* SPDX-License-Identifier: Apache-2.0
 *
 * microTVM's RPC server: a host looks functions of this firmware up, gives them tensors, calls and times them.
 *
 * Whoever reaches the line can run the firmware's functions: it is for the bench, not for the field. Packets cannot make the server read
 * or write outside its buffers and the memory that it gave to the host.
 */
#ifndef TVM_RUNTIME_CRT_MICROTVM_RPC_SERVER_H_
#define TVM_RUNTIME_CRT_MICROTVM_RPC_SERVER_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sends bytes to the host; waits until some can be sent. Returns how many were. */
typedef ssize_t (*microtvm_rpc_channel_write_t)(void* context, const uint8_t* data,
                                                size_t num_bytes);

typedef void* microtvm_rpc_server_t;

/* Starts the runtime and the only server of a firmware, and tells the host that no session is left. Calls TVMPlatformAbort if a step
 * fails. */
microtvm_rpc_server_t MicroTVMRpcServerInit(microtvm_rpc_channel_write_t write_func,
                                            void* write_func_ctx);

/* Takes bytes from the host and answers what is complete. Moves new_data behind what was taken.
 *
 * kTvmErrorPlatformShutdown once the host has ended the server. kTvmErrorFramingShortPacket if a packet was cut; go on with the rest, as
 * after kTvmErrorNoError. Other damage on the line is dropped in silence. */
tvm_crt_error_t MicroTVMRpcServerLoop(microtvm_rpc_server_t server, uint8_t** new_data,
                                      size_t* new_data_size_bytes);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_MICROTVM_RPC_SERVER_H_ */
