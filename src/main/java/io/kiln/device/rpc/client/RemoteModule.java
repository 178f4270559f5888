// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Failure;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.rpc.packet.RpcValue;
import io.kiln.device.rpc.packet.RpcValue.TypeCode;
import java.util.Optional;

/**
 * A module of the board's: functions by name. Freeing the system library does nothing.
 *
 * @param client whose board it is on
 * @param handle the board's handle of it
 */
public record RemoteModule(RpcClient client, long handle) implements AutoCloseable {
    private static final String GET_FUNCTION = "tvm.rpc.server.ModuleGetFunction";

    /** A function; empty if the module has none of this name. */
    public Optional<RemoteFunction> function(String name) {
        Returned found = client.global(GET_FUNCTION).call(value(), new RpcValue.Str(name), new RpcValue.Int(0));
        return found.isNull() ? Optional.empty() : Optional.of(found.function());
    }

    /**
     * A function that must be there.
     *
     * @throws RpcException if the module has none of this name
     */
    public RemoteFunction require(String name) {
        return function(name)
                .orElseThrow(() -> new RpcException(
                        Kind.REMOTE,
                        Failure.RPC.problem(
                                "the board's program has no function " + name,
                                RpcException.WHERE,
                                "a model with the packed interface and a system library",
                                "Flash the image that was built")));
    }

    /** The module as an argument. */
    public RpcValue.Module value() {
        return new RpcValue.Module(handle);
    }

    /** Frees the module on the board. */
    @Override
    public void close() {
        client.free(handle, TypeCode.MODULE);
    }
}
