// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.packet;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.packet.RpcValue.TypeCode;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads a packet that a board sent. A length in it counts only once the bytes are there, so that a bad one costs no memory. */
public final class PacketReader {
    private static final int MOST_DIMENSIONS = 64;
    private static final int BYTE = 0xFF;
    private static final int SHORT = 0xFFFF;

    private final RpcCode code;
    private final ByteBuffer body;

    private PacketReader(RpcCode code, ByteBuffer body) {
        this.code = code;
        this.body = body;
    }

    /**
     * Reads the head of a packet.
     *
     * @param packet with its length, which must not be 0
     * @throws RpcException if its length is wrong, or its code unknown
     */
    public static PacketReader of(Bytes packet) {
        ByteBuffer bytes = packet.buffer().order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.remaining() < PacketWriter.LENGTH + Integer.BYTES) {
            throw RpcException.malformed("a reply of " + bytes.remaining() + " bytes", "at least 12");
        }
        long length = bytes.getLong();
        if (length != bytes.remaining()) {
            throw RpcException.malformed(
                    "a reply says that it has " + Long.toUnsignedString(length) + " bytes", "" + bytes.remaining());
        }
        int code = bytes.getInt();
        return new PacketReader(
                RpcCode.of(code).orElseThrow(() -> RpcException.malformed("a reply of code " + code, "a known code")),
                bytes);
    }

    /** Whether a packet says that it has no content, which is a no-op. */
    public static boolean isEmpty(Bytes packet) {
        return packet.size() == PacketWriter.LENGTH && packet.buffer().getLong() == 0;
    }

    public RpcCode code() {
        return code;
    }

    public Bytes rest() {
        byte[] rest = new byte[body.remaining()];
        body.get(rest);
        return Bytes.wrap(rest);
    }

    /**
     * The packed sequence that the body consists of.
     *
     * @throws RpcException if it is cut short, followed by more, or holds what is never sent
     */
    public List<RpcValue> sequence() {
        try {
            int count = body.getInt();
            if (count < 0 || count > body.remaining() / Integer.BYTES) {
                throw RpcException.malformed("a reply with " + count + " values", "as many as its bytes can hold");
            }
            List<TypeCode> types = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int type = body.getInt();
                types.add(TypeCode.of(type)
                        .orElseThrow(() -> RpcException.malformed(
                                "a reply with a value of type " + type, "a type code from 0 to 12, or 15")));
            }
            List<RpcValue> values = new ArrayList<>();
            types.forEach(type -> values.add(value(type)));
            if (body.hasRemaining()) {
                throw RpcException.malformed(
                        "a reply with " + body.remaining() + " bytes behind its values", "nothing behind them");
            }
            return List.copyOf(values);
        } catch (BufferUnderflowException e) {
            throw RpcException.malformed("a reply that is cut short", "a whole packet");
        }
    }

    private RpcValue value(TypeCode type) {
        return switch (type) {
            case INT -> new RpcValue.Int(body.getLong());
            case BOOL -> new RpcValue.Bool(body.getLong() != 0);
            case UINT -> new RpcValue.UInt(body.getLong());
            case FLOAT -> new RpcValue.Real(body.getDouble());
            case HANDLE -> new RpcValue.Handle(body.getLong());
            case NULL -> new RpcValue.Null();
            case DATA_TYPE -> {
                DataType dataType = dataType();
                body.getInt();
                yield new RpcValue.Type(dataType);
            }
            case DEVICE -> device();
            case TENSOR -> tensor();
            case OBJECT -> new RpcValue.ObjectRef(body.getInt(), body.getLong());
            case MODULE -> new RpcValue.Module(body.getLong());
            case FUNCTION -> new RpcValue.Function(body.getLong());
            case STR -> new RpcValue.Str(new String(counted(), StandardCharsets.UTF_8));
            case BYTES -> new RpcValue.Data(Bytes.wrap(counted()));
            case ND_ARRAY -> throw RpcException.malformed("a reply with a value of type 13", "a tensor of type 7");
        };
    }

    private DataType dataType() {
        return new DataType(body.get() & BYTE, body.get() & BYTE, body.getShort() & SHORT);
    }

    private RpcValue.Device device() {
        return new RpcValue.Device(body.getInt(), body.getInt());
    }

    private RpcValue.Tensor tensor() {
        long data = body.getLong();
        RpcValue.Device device = device();
        int dimensions = body.getInt();
        if (dimensions < 0 || dimensions > MOST_DIMENSIONS) {
            throw RpcException.malformed(
                    "a tensor of " + dimensions + " dimensions", "0 to " + MOST_DIMENSIONS + " dimensions");
        }
        DataType element = dataType();
        List<Long> shape = new ArrayList<>();
        for (int i = 0; i < dimensions; i++) {
            shape.add(body.getLong());
        }
        return new RpcValue.Tensor(data, device, element, shape, body.getLong());
    }

    private byte[] counted() {
        long length = body.getLong();
        if (length < 0 || length > body.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[(int) length];
        body.get(bytes);
        return bytes;
    }
}
