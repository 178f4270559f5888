// SPDX-License-Identifier: Apache-2.0
/**
 * The host's end of RPC, for programs: {@link io.kiln.device.rpc.client.RpcClient} connects over a transport and gives modules, functions
 * and tensors of the board. All of it belongs to one thread.
 */
package io.kiln.device.rpc.client;
