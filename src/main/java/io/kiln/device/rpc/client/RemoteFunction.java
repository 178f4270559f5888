// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.device.rpc.packet.PacketWriter;
import io.kiln.device.rpc.packet.RpcCode;
import io.kiln.device.rpc.packet.RpcValue;
import java.util.List;

/**
 * A function on the board that a host calls over RPC. A server frees no functions, so that there is nothing to close.
 *
 * @param client whose board it is on
 * @param handle the board's handle of it
 */
public record RemoteFunction(RpcClient client, long handle) {
    /**
     * Calls the function.
     *
     * @throws io.kiln.device.rpc.packet.RpcException if it fails, with the board's message
     */
    public Returned call(RpcValue... arguments) {
        return call(List.of(arguments));
    }

    public Returned call(List<? extends RpcValue> arguments) {
        return Returned.of(
                client,
                client.request(new PacketWriter(RpcCode.CALL_FUNC).u64(handle).sequence(arguments)));
    }
}
