// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.kernel;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;

/**
 * A value in the interpreter: integers of up to 32 bits widened to int, 64-bit integers as long, or floats; row-major.
 */
public final class Tensor {
    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};
    private static final float[] NO_FLOATS = {};

    private final TensorType type;
    private final int[] ints;
    private final long[] longs;
    private final float[] floats;

    private Tensor(TensorType type, int[] ints, long[] longs, float[] floats) {
        this.type = type;
        this.ints = ints;
        this.longs = longs;
        this.floats = floats;
    }

    /** Takes ownership of the array. */
    public static Tensor of(TensorType type, int[] ints) {
        return new Tensor(type, ints, NO_LONGS, NO_FLOATS);
    }

    /** Takes ownership of the array. */
    public static Tensor of(TensorType type, float[] floats) {
        return new Tensor(type, NO_INTS, NO_LONGS, floats);
    }

    /** An int64 or uint64 tensor; takes ownership of the array. */
    public static Tensor of(TensorType type, long[] longs) {
        return new Tensor(type, NO_INTS, longs, NO_FLOATS);
    }

    /** A tensor of floats, each by its place in row-major order. */
    public static Tensor ofReals(TensorType type, Bytes.Reals element) {
        float[] floats = new float[Math.toIntExact(type.shape().elements())];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = element.at(i);
        }
        return of(type, floats);
    }

    /** A tensor of integers of up to 32 bits, each by its place in row-major order. */
    public static Tensor ofInts(TensorType type, IntUnaryOperator element) {
        int[] ints = new int[Math.toIntExact(type.shape().elements())];
        Arrays.setAll(ints, element);
        return of(type, ints);
    }

    /** Likewise, with integers that are limited to the type. */
    public static Tensor ofLimited(TensorType type, IntToLongFunction element) {
        return ofInts(
                type,
                i -> FixedPoint.clamp(
                        element.applyAsLong(i), type.dtype().min(), type.dtype().max()));
    }

    /** A tensor of integers of 64 bits, each by its place in row-major order. */
    public static Tensor ofLongs(TensorType type, IntToLongFunction element) {
        long[] longs = new long[Math.toIntExact(type.shape().elements())];
        Arrays.setAll(longs, element);
        return of(type, longs);
    }

    /** Sums that wrap around in the type, int32 or int64; takes ownership of the array. */
    public static Tensor ofSums(TensorType type, long[] sums) {
        return type.dtype() == DType.INT64
                ? of(type, sums)
                : of(type, Arrays.stream(sums).mapToInt(s -> (int) s).toArray());
    }

    public static Tensor read(TensorType type, Bytes bytes) {
        int count = Math.toIntExact(type.shape().elements());
        ByteBuffer buffer = bytes.buffer();
        if (type.dtype().isFloat()) {
            float[] floats = new float[count];
            buffer.asFloatBuffer().get(floats);
            return of(type, floats);
        }
        if (type.dtype().isLong()) {
            long[] longs = new long[count];
            buffer.asLongBuffer().get(longs);
            return of(type, longs);
        }
        int[] ints = new int[count];
        for (int i = 0; i < count; i++) {
            ints[i] = element(buffer, type.dtype(), i);
        }
        return of(type, ints);
    }

    private static int element(ByteBuffer buffer, DType dtype, int index) {
        return switch (dtype) {
            case INT8 -> buffer.get(index);
            case UINT8, BOOL -> buffer.get(index) & 0xFF;
            case INT16 -> buffer.getShort(2 * index);
            case INT32, UINT32 -> buffer.getInt(4 * index);
            case INT64, UINT64, FLOAT32 -> throw new IllegalArgumentException(dtype.text() + " is not held as int");
        };
    }

    public Bytes toBytes() {
        int width = type.dtype().bytes();
        int count = Math.toIntExact(type.shape().elements());
        if (type.dtype().isFloat()) {
            return Bytes.ofReals(count, i -> floats[i]);
        }
        return Bytes.ofIntegers(count, width, type.dtype().isLong() ? i -> longs[i] : i -> ints[i]);
    }

    /** The same elements under another shape. */
    public Tensor reshaped(TensorType newType) {
        return new Tensor(newType, ints, longs, floats);
    }

    /** The elements at these positions, under another type with the same element type. */
    public Tensor gather(int[] places, TensorType newType) {
        int[] newInts = ints.length == 0
                ? NO_INTS
                : Arrays.stream(places).map(i -> ints[i]).toArray();
        long[] newLongs = longs.length == 0
                ? NO_LONGS
                : Arrays.stream(places).mapToLong(i -> longs[i]).toArray();
        float[] newFloats = new float[floats.length == 0 ? 0 : places.length];
        for (int i = 0; i < newFloats.length; i++) {
            newFloats[i] = floats[places[i]];
        }
        return new Tensor(newType, newInts, newLongs, newFloats);
    }

    public TensorType type() {
        return type;
    }

    public Shape shape() {
        return type.shape();
    }

    public boolean isFloat() {
        return type.dtype().isFloat();
    }

    /** The elements of an int64 or uint64 tensor; read-only. */
    public long[] longs() {
        return longs;
    }

    /** The elements of a tensor of bool or integers of at most 32 bits; read-only. */
    public int[] ints() {
        return ints;
    }

    /** The elements of a float tensor; read-only. */
    public float[] floats() {
        return floats;
    }

    public int scalarInt() {
        return ints[0];
    }

    public float scalarFloat() {
        return floats[0];
    }
}
