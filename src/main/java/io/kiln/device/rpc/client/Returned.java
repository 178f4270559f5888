// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcValue;
import io.kiln.device.rpc.packet.RpcValue.TypeCode;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The value that a function returned. Each accessor is for one kind of value and throws an {@link RpcException} for any other.
 *
 * @param client whose board the values are on
 * @param type type code of what the function returned
 * @param values as they came: the value, and behind a tensor the handle that frees it
 */
public record Returned(RpcClient client, TypeCode type, List<RpcValue> values) {
    public Returned {
        values = List.copyOf(values);
    }

    /** Reads the values of a reply: the first says the type. */
    static Returned of(RpcClient client, List<RpcValue> reply) {
        int wanted = reply.size() == 3 ? 3 : 2;
        if (reply.size() == wanted && reply.get(0) instanceof RpcValue.Int code) {
            TypeCode type = TypeCode.of(code.value())
                    .orElseThrow(() -> RpcException.malformed(
                            "a function returned type " + code.value(), "a type from 0 to 13, or 15"));
            return new Returned(client, type, reply.subList(1, reply.size()));
        }
        throw RpcException.malformed("a function returned " + text(reply), "its type, then its value");
    }

    /** Whether it is nothing. */
    public boolean isNull() {
        return type == TypeCode.NULL;
    }

    public long integer() {
        return value(TypeCode.INT, RpcValue.Int.class).value();
    }

    /** A truth value: of type bool, or an integer other than 0 from a board with the runtime of TVM 0.16. */
    public boolean truth() {
        return type == TypeCode.INT
                ? integer() != 0
                : value(TypeCode.BOOL, RpcValue.Bool.class).value();
    }

    public double real() {
        return value(TypeCode.FLOAT, RpcValue.Real.class).value();
    }

    /** An address, or whatever else the board gives out; 0 if it is nothing. */
    public long handle() {
        return isNull() ? 0 : value(TypeCode.HANDLE, RpcValue.Handle.class).value();
    }

    public String text() {
        return value(TypeCode.STR, RpcValue.Str.class).text();
    }

    public Bytes bytes() {
        return value(TypeCode.BYTES, RpcValue.Data.class).content();
    }

    public RemoteModule module() {
        return new RemoteModule(
                client, value(TypeCode.MODULE, RpcValue.Handle.class).value());
    }

    public RemoteFunction function() {
        return new RemoteFunction(
                client, value(TypeCode.FUNCTION, RpcValue.Handle.class).value());
    }

    /** An array, which the caller closes. */
    public RemoteTensor tensor() {
        RpcValue.Tensor tensor = value(TypeCode.ND_ARRAY, RpcValue.Tensor.class);
        if (values.size() == 2 && values.get(1) instanceof RpcValue.Handle handle) {
            return RemoteTensor.array(client, tensor, handle.value());
        }
        throw RpcException.malformed("an array without a handle", "the handle that frees it");
    }

    private <T extends RpcValue> T value(TypeCode wanted, Class<T> kind) {
        if (type == wanted && kind.isInstance(values.get(0))) {
            return kind.cast(values.get(0));
        }
        throw RpcException.malformed("a function returned " + type + " " + text(values), "a value of type " + wanted);
    }

    private static String text(List<RpcValue> values) {
        return values.stream().map(value -> value.type().name()).collect(Collectors.joining(", ", "(", ")"));
    }
}
