// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.function.DoubleUnaryOperator;

/**
 * The tables of {@link TflInt16Softmax}. TensorFlow Lite Micro (softmax_common.cc) makes them in single precision, TensorFlow Lite's library
 * (activations.cc, SoftmaxPrepare) in double precision. The exponentials are the same; two of the reciprocals differ by one.
 */
public final class Int16SoftmaxTables {
    private static final Int16SoftmaxTables SINGLE = new Int16SoftmaxTables(FloatPrecision.SINGLE);
    private static final Int16SoftmaxTables DOUBLE = new Int16SoftmaxTables(FloatPrecision.DOUBLE);

    private static final int RANGE = 65_535;

    private final FloatPrecision precision;
    private final int[] exponentials;
    private final int[] reciprocals;

    private Int16SoftmaxTables(FloatPrecision precision) {
        this.precision = precision;
        this.exponentials = table(10, Short.MAX_VALUE, x -> rounded(StrictMath.exp(x)));
        this.reciprocals = table(1, Short.MIN_VALUE, x -> rounded(1 / rounded(1 + x)));
    }

    /** The tables in a precision. */
    public static Int16SoftmaxTables of(FloatPrecision precision) {
        return precision == FloatPrecision.SINGLE ? SINGLE : DOUBLE;
    }

    /** 513 exponentials from -10 to 0, as a new array; units of 2^-15. */
    public int[] exponentials() {
        return exponentials.clone();
    }

    /** 513 values of {@code 1 / (1 + x)} from 0 to 1, as a new array; units of 2^-15. */
    public int[] reciprocals() {
        return reciprocals.clone();
    }

    int exponential(int at) {
        return TflInt16Softmax.interpolated(exponentials, at);
    }

    int reciprocal(int at) {
        return TflInt16Softmax.interpolated(reciprocals, at);
    }

    /** A function over a width. */
    private int[] table(int width, int inputZeroPoint, DoubleUnaryOperator function) {
        double inputScale = rounded((double) width / RANGE);
        return InterpolatedTable.of(precision, inputScale, inputZeroPoint, rounded(2.0 / RANGE), function);
    }

    private double rounded(double x) {
        return precision.rounded(x);
    }
}
