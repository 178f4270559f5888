// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.base.FixedPoint;
import java.util.function.DoubleUnaryOperator;

/**
 * TensorFlow Lite's softmax of int16 (reference_ops::SoftmaxInt16 in softmax.h, tables by LUTPopulateInt16 in common.h): exponential and
 * reciprocal by interpolation in tables of 513 elements. For one row, with {@code L} as {@link #interpolated}:
 *
 * <pre>{@code
 * e[c]   = L(exponentials, limit(32767 + MultiplyByQuantizedMultiplier(data[c] - max, multiplier, shift)))     units of 2^-15
 * sum    = sum over c of e[c], z = leading zeros of sum
 * r      = L(reciprocals, limit(((sum << z - 1) + 2^13 >> 14) - 98304))
 * out[c] = limit(e[c] * r + 2^(30 - z) >> 31 - z)                                                               units of 2^-15
 * }</pre>
 */
public final class TflWideSoftmax {
    /** Longest row for which the sum stays within 31 bits. */
    public static final int MAX_ROW = 65_536;

    /** Bits of a table index that are the fraction of the step to the next element. */
    public static final int FRACTION_BITS = 7;

    /** The element at 0 of a table. */
    public static final int MIDDLE = 256;

    /** Subtracted from a sum of 17 bits to index the reciprocals. */
    public static final int SUM_MIDDLE = 3 << 15;

    private static final int STEPS = 512;
    private static final int RANGE = 65_535;

    /** Differences have 17 bits with their sign, and must not exceed 32. */
    private static final int MOST_SHIFT = 15;

    private static final int[] EXPONENTIALS = table(10.0 / RANGE, Short.MAX_VALUE, StrictMath::exp);
    private static final int[] RECIPROCALS = table(1.0 / RANGE, Short.MIN_VALUE, x -> 1 / (1 + x));

    private TflWideSoftmax() {}

    /** The exponential from -10 to 0, as a new array. */
    public static int[] exponentials() {
        return EXPONENTIALS.clone();
    }

    /** {@code 1 / (1 + x)} from 0 to 1, as a new array. */
    public static int[] reciprocals() {
        return RECIPROCALS.clone();
    }

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
        return interpolated(EXPONENTIALS, limit((long) scaled + Short.MAX_VALUE));
    }

    /** The reciprocal of a sum, from its highest bits. */
    public static int reciprocal(int sum) {
        int shifted = ((sum << (Integer.numberOfLeadingZeros(sum) - 1)) + (1 << 13)) >>> 14;
        return interpolated(RECIPROCALS, limit(shifted - SUM_MIDDLE));
    }

    /** An element of the result. */
    public static int result(int exponential, int reciprocal, int sum) {
        int shift = 31 - Integer.numberOfLeadingZeros(sum);
        return Math.min((exponential * reciprocal + (1 << (shift - 1))) >> shift, Short.MAX_VALUE);
    }

    private static int limit(long value) {
        return FixedPoint.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE);
    }

    private static int interpolated(int[] table, int at) {
        int index = MIDDLE + (at >> FRACTION_BITS);
        int rest = at & ((1 << FRACTION_BITS) - 1);
        return table[index] + (((table[index + 1] - table[index]) * rest + 64) >> FRACTION_BITS);
    }

    /**
     * Samples of a function, each shifted by half of the chord's error in the middle; in double precision, as in TensorFlow Lite
     * (activations.cc, SoftmaxPrepare). TensorFlow Lite Micro (softmax_common.cc) has them in single precision, by which two of the
     * reciprocals differ by one.
     */
    private static int[] table(double inputScale, int inputZeroPoint, DoubleUnaryOperator function) {
        double outputScale = 2.0 / RANGE;
        double low = inputScale * (Short.MIN_VALUE - inputZeroPoint);
        double high = inputScale * (Short.MAX_VALUE - inputZeroPoint);
        double step = (high - low) / STEPS;
        double inverse = (RANGE + 1) / (outputScale * Short.MAX_VALUE - outputScale * Short.MIN_VALUE);
        int[] table = new int[STEPS + 1];
        for (int i = 0; i < STEPS; i++) {
            double sample = round(function.applyAsDouble(low + i * step) * inverse);
            double next = function.applyAsDouble(low + (i + 1) * step) * inverse;
            double middle = round(function.applyAsDouble(low + i * step + step / 2) * inverse);
            double missed = round((next + sample) / 2) - middle;
            table[i] = limit((long) (sample - round(missed / 2)));
        }
        table[STEPS] = limit((long) round(function.applyAsDouble(high) * inverse));
        return table;
    }

    private static double round(double x) {
        return FixedPoint.roundHalfAway(x);
    }
}
