// SPDX-License-Identifier: Apache-2.0
/**
 * microTVM's RPC, the host's side: {@link io.kiln.device.rpc.RpcProtocol} talks about models as other protocols do. Programs that want
 * more (functions, tensors, time evaluators) use {@link io.kiln.device.rpc.client.RpcClient}.
 */
package io.kiln.device.rpc;
