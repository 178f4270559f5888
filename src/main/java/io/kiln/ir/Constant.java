// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.type.ConstantElements;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.util.function.IntToLongFunction;

/**
 * A tensor known at build time.
 *
 * @param name name in the model file; empty if it has none
 * @param type shape and element type
 * @param data elements, row-major, little-endian
 */
public record Constant(String name, TensorType type, Bytes data) implements Arg, ConstantElements {
    public Constant {
        if (type.bytes() != data.size()) {
            throw new IllegalArgumentException(
                    "constant `" + name + "` " + type.text() + " has " + data.size() + " bytes");
        }
    }

    public static Constant scalar(int value) {
        return integers("", new TensorType(Shape.scalar(), DType.INT32), i -> value);
    }

    public static Constant scalar(float value) {
        return reals("", Shape.scalar(), i -> value);
    }

    public static Constant vector(int... values) {
        return integers("", new TensorType(Shape.of(values.length), DType.INT32), i -> values[i]);
    }

    public static Constant vector(float... values) {
        return reals("", Shape.of(values.length), i -> values[i]);
    }

    /** Integers of a type, wrapping around, by their indices. */
    public static Constant integers(String name, TensorType type, IntToLongFunction element) {
        int count = Math.toIntExact(type.shape().elements());
        return new Constant(name, type, Bytes.ofIntegers(count, type.dtype().bytes(), element));
    }

    /** Elements of float32, by their indices. */
    public static Constant reals(String name, Shape shape, Bytes.Reals element) {
        Bytes data = Bytes.ofReals(Math.toIntExact(shape.elements()), element);
        return new Constant(name, new TensorType(shape, DType.FLOAT32), data);
    }

    @Override
    public int elements() {
        return data.size() / type.dtype().bytes();
    }

    @Override
    public long integer(int index) {
        // Weights and biases are read one by one, many times: without a view for each.
        if (type.dtype() == DType.INT8) {
            return data.get(index);
        }
        if (type.dtype() == DType.INT32) {
            return data.int32(4 * index);
        }
        ByteBuffer buffer = data.buffer();
        return switch (type.dtype()) {
            case INT8 -> buffer.get(index);
            case UINT8, BOOL -> buffer.get(index) & 0xFF;
            case INT16 -> buffer.getShort(2 * index);
            case INT32 -> buffer.getInt(4 * index);
            case UINT32 -> buffer.getInt(4 * index) & 0xFFFFFFFFL;
            case INT64, UINT64 -> buffer.getLong(8 * index);
            case FLOAT32 -> throw new IllegalArgumentException("constant `" + name + "` is float32");
        };
    }

    @Override
    public float real(int index) {
        if (type.dtype() != DType.FLOAT32) {
            throw new IllegalArgumentException(
                    "constant `" + name + "` is " + type.dtype().text());
        }
        return Float.intBitsToFloat(data.int32(4 * index));
    }
}
