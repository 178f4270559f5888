// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import java.util.function.DoubleUnaryOperator;

/**
 * TensorFlow Lite's softmax of int16 (reference_ops::SoftmaxInt16 in softmax.h, tables by LUTPopulateInt16 in common.h): exponential and
 * reciprocal by interpolation in {@link Int16SoftmaxTables}. For one row, with {@code L} as {@link #interpolated}:
 *
 * <pre>{@code
 * e[c]   = L(exponentials, limit(32767 + MultiplyByQuantizedMultiplier(data[c] - max, multiplier, shift)))     units of 2^-15
 * sum    = sum over c of e[c], z = leading zeros of sum
 * r      = L(reciprocals, limit(((sum << z - 1) + 2^13 >> 14) - 98304))
 * out[c] = limit(e[c] * r + 2^(30 - z) >> 31 - z)                                                               units of 2^-15
 * }</pre>
 */
public final class TflInt16Softmax {
    /** Longest row for which the sum stays within 31 bits. */
    public static final int MAX_ROW = 65_536;

    /** Bits of a table index that are the fraction of the step to the next element. */
    public static final int FRACTION_BITS = 7;

    /** The element at 0 of a table. */
    public static final int MIDDLE = 256;

    /** Subtracted from a sum of 17 bits to index the reciprocals. */
    public static final int SUM_MIDDLE = 3 << 15;

    private static final int RANGE = 65_535;

    /** Differences have 17 bits with their sign, and must not exceed 32. */
    private static final int MOST_SHIFT = 15;

    private TflInt16Softmax() {}

    /**
     * The multiplier by which a difference of -65535 becomes -10.
     *
     * @throws IllegalArgumentException if {@code beta * inputScale} is 5 or more, or not finite
     */
    public static QuantizedMultiplier multiplier(float beta, float inputScale) {
        double real = (double) inputScale * beta / (10.0 / RANGE);
        if (!(real < 1 << MOST_SHIFT)) {
            throw new IllegalArgumentException("softmax of int16 with beta " + beta + " and input scale " + inputScale
                    + " has no fixed-point form; their product must be below 5");
        }
        return QuantizedMultiplier.of(real);
    }

    /** The exponential of a difference from the largest element, which is 0 or less. */
    public static int exponential(int difference, QuantizedMultiplier by) {
        int scaled = FixedPoint.multiplyByQuantizedMultiplier(difference, by.multiplier(), by.shift());
        return Int16SoftmaxTables.of(FloatPrecision.SINGLE).exponential(limit((long) scaled + Short.MAX_VALUE));
    }

    /** The reciprocal of a sum, from its highest bits. */
    public static int reciprocal(int sum, Int16SoftmaxTables tables) {
        int shifted = ((sum << (Integer.numberOfLeadingZeros(sum) - 1)) + (1 << 13)) >>> 14;
        return tables.reciprocal(limit(shifted - SUM_MIDDLE));
    }

    /** An element of the result. */
    public static int result(int exponential, int reciprocal, int sum) {
        int shift = 31 - Integer.numberOfLeadingZeros(sum);
        return Math.min((exponential * reciprocal + (1 << (shift - 1))) >> shift, Short.MAX_VALUE);
    }

    private static int limit(long value) {
        return FixedPoint.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE);
    }

    static int interpolated(int[] table, int at) {
        int index = MIDDLE + (at >> FRACTION_BITS);
        int rest = at & ((1 << FRACTION_BITS) - 1);
        return table[index] + (((table[index + 1] - table[index]) * rest + 64) >> FRACTION_BITS);
    }

    /**
     * The tables of {@link TflInt16Softmax}. TensorFlow Lite Micro (softmax_common.cc) makes them in single precision, TensorFlow Lite's library
     * (activations.cc, SoftmaxPrepare) in double precision. The exponentials are the same; two of the reciprocals differ by one.
     */
    public static final class Int16SoftmaxTables {
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
}
