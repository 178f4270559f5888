// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.element;

import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Tensor;
import java.util.function.IntBinaryOperator;
import java.util.function.ToIntFunction;

/** A tensor filled by copying elements of others, of any type. */
public final class Elements {
    private final TensorType type;
    private final int[] ints;
    private final long[] longs;
    private final float[] floats;

    public Elements(TensorType type) {
        this.type = type;
        int count = (int) type.shape().elements();
        boolean isLong = type.dtype().isLong();
        this.floats = new float[type.dtype().isFloat() ? count : 0];
        this.longs = new long[isLong ? count : 0];
        this.ints = new int[isLong || type.dtype().isFloat() ? 0 : count];
    }

    /** Copies an element; types must agree. */
    public void copy(Tensor from, int index, int to) {
        if (type.dtype().isFloat()) {
            floats[to] = from.floats()[index];
        } else if (type.dtype().isLong()) {
            longs[to] = from.longs()[index];
        } else {
            ints[to] = from.ints()[index];
        }
    }

    /** A function of two floats. */
    @FunctionalInterface
    public interface FloatFunction {
        float of(float a, float b);
    }

    /** Combines an element, the first operand, with one of another tensor, of int32 or float32. */
    public void combine(Tensor with, int index, int to, IntBinaryOperator ofInts, FloatFunction ofFloats) {
        if (type.dtype().isFloat()) {
            floats[to] = ofFloats.of(floats[to], with.floats()[index]);
        } else {
            ints[to] = ofInts.applyAsInt(ints[to], with.ints()[index]);
        }
    }

    /** Adds an element of another tensor; sums of integers wrap around. */
    public void add(Tensor with, int index, int to) {
        if (type.dtype().isLong()) {
            longs[to] += with.longs()[index];
        } else {
            combine(with, index, to, Integer::sum, Float::sum);
        }
    }

    /** The filled tensor, which must not be changed afterwards. */
    public Tensor tensor() {
        if (type.dtype().isFloat()) {
            return Tensor.of(type, floats);
        }
        return type.dtype().isLong() ? Tensor.of(type, longs) : Tensor.of(type, ints);
    }

    /** A tensor whose elements are elements of another, selected by the indices along all dimensions. */
    public static Tensor pick(TensorType type, Tensor from, ToIntFunction<int[]> source) {
        Elements elements = new Elements(type);
        int[] at = new int[type.shape().rank()];
        long count = type.shape().elements();
        for (int i = 0; i < count; i++) {
            elements.copy(from, source.applyAsInt(at), i);
            advance(at, type.shape());
        }
        return elements.tensor();
    }

    /** Advances to the next element in row-major order. */
    public static void advance(int[] at, Shape shape) {
        for (int axis = at.length - 1; axis >= 0; axis--) {
            at[axis]++;
            if (at[axis] < shape.dim(axis)) {
                return;
            }
            at[axis] = 0;
        }
    }

    /** Distance between neighbours along each dimension, in elements. */
    public static int[] strides(Shape shape) {
        int[] strides = new int[shape.rank()];
        int stride = 1;
        for (int axis = strides.length - 1; axis >= 0; axis--) {
            strides[axis] = stride;
            stride *= shape.dim(axis);
        }
        return strides;
    }
}
