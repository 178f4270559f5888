// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes a packet: {@code u64} bytes that follow, {@code i32} code, body; little endian, without alignment. */
public final class PacketWriter {
    /** Bytes of the length before a packet. */
    public static final int LENGTH = Long.BYTES;

    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /** A packet of this code with an empty body. */
    public PacketWriter(RpcCode code) {
        i32(code.code());
    }

    /** A packet whose body is one packed sequence. */
    public static Bytes packet(RpcCode code, RpcValue... values) {
        return new PacketWriter(code).sequence(List.of(values)).packet();
    }

    /** The packet with its length. */
    public Bytes packet() {
        ByteArrayOutputStream packet = new ByteArrayOutputStream();
        number(packet, body.size(), LENGTH);
        packet.writeBytes(body.toByteArray());
        return Bytes.wrap(packet.toByteArray());
    }

    public PacketWriter i32(int value) {
        number(body, value, Integer.BYTES);
        return this;
    }

    public PacketWriter u64(long value) {
        number(body, value, Long.BYTES);
        return this;
    }

    /** Adds bytes without their length. */
    public PacketWriter raw(byte[] bytes) {
        body.writeBytes(bytes);
        return this;
    }

    /** Adds bytes behind their length. */
    public PacketWriter counted(byte[] bytes) {
        return u64(bytes.length).raw(bytes);
    }

    /** Adds a packed sequence: {@code i32} count, {@code i32} type codes, then the values. */
    public PacketWriter sequence(List<? extends RpcValue> values) {
        i32(values.size());
        values.forEach(value -> i32(value.type().code()));
        values.forEach(this::value);
        return this;
    }

    /** Adds a tensor as it stands in a sequence and before the bytes of a copy. */
    public PacketWriter tensor(RpcValue.Tensor tensor) {
        u64(tensor.data());
        device(tensor.device());
        i32(tensor.shape().size());
        dataType(tensor.element());
        tensor.shape().forEach(this::u64);
        return u64(tensor.byteOffset());
    }

    private void value(RpcValue value) {
        switch (value.type()) {
            case INT -> u64(((RpcValue.Int) value).value());
            case BOOL -> u64(((RpcValue.Bool) value).value() ? 1 : 0);
            case UINT -> u64(((RpcValue.UInt) value).value());
            case FLOAT -> u64(Double.doubleToRawLongBits(((RpcValue.Real) value).value()));
            case HANDLE -> u64(((RpcValue.Handle) value).value());
            case NULL -> {
                // The type code says all: a null value has no bytes.
            }
            case DATA_TYPE -> dataType(((RpcValue.Type) value).value()).i32(0);
            case DEVICE -> device((RpcValue.Device) value);
            case TENSOR -> tensor((RpcValue.Tensor) value);
            case OBJECT -> i32(((RpcValue.ObjectRef) value).index()).u64(((RpcValue.ObjectRef) value).handle());
            case MODULE -> u64(((RpcValue.Module) value).handle());
            case FUNCTION -> u64(((RpcValue.Function) value).handle());
            case STR -> counted(((RpcValue.Str) value).text().getBytes(StandardCharsets.UTF_8));
            case BYTES -> counted(((RpcValue.Data) value).content().toArray());
            case ND_ARRAY -> throw new IllegalArgumentException("an NDArray goes over the wire as a tensor");
        }
    }

    private PacketWriter device(RpcValue.Device device) {
        return i32(device.kind()).i32(device.id());
    }

    private PacketWriter dataType(DataType type) {
        body.write(type.code());
        body.write(type.bits());
        number(body, type.lanes(), Short.BYTES);
        return this;
    }

    private static void number(ByteArrayOutputStream to, long value, int bytes) {
        for (int i = 0; i < bytes; i++) {
            to.write((int) (value >>> (Byte.SIZE * i)));
        }
    }
}
