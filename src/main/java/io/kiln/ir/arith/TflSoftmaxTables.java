// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;

/**
 * TensorFlow Lite's int8 softmax (reference/softmax.h on gemmlowp/fixedpoint.h), reduced to a table of 256 exponentials.
 *
 * <p>For one row, with {@code d[c] = max - data[c]} in 0..255:
 *
 * <pre>
 * sum    = sum over c of {@link #term}(exp[d[c]])                 as uint32, 12 integer bits
 * scale  = {@link #reciprocal}(sum)                               Q0.31
 * out[c] = clamp(-128 + roundingDivideByPot(highMul(scale, exp[d[c]]), {@link #outputShift}(sum)), -128, 127)
 * </pre>
 *
 * <p>{@code highMul} is {@link FixedPoint#saturatingRoundingDoublingHighMul}. Differences below TFLite's {@code
 * diff_min} are 0 in the table, which equals skipping them.
 */
public final class TflSoftmaxTables {
    /** Longest row for which the sum stays within 32 bits. */
    public static final int MAX_ROW = 8191;

    private static final int SIZE = 256;
    private static final int DIFF_INTEGER_BITS = 5;
    private static final int DIFF_FRACTION_BITS = 31 - DIFF_INTEGER_BITS;
    private static final int SUM_INTEGER_BITS = 12;

    private TflSoftmaxTables() {}

    /**
     * {@code exp(-beta * inputScale * d)} in Q0.31 for d = 0 to 255, as a new array.
     *
     * @throws IllegalArgumentException if {@code beta * inputScale} is 2^-26 or less, which TFLite refuses, or not finite
     */
    public static int[] exponentials(float beta, float inputScale) {
        int[] differences = differences(beta, inputScale);
        int[] table = new int[SIZE];
        for (int d = 0; d < differences.length; d++) {
            table[d] = expOfNegative(differences[d]);
        }
        return table;
    }

    /**
     * {@code -beta * inputScale * d} with five integer bits for d = 0 to at most 255, down to TFLite's {@code
     * diff_min}.
     */
    static int[] differences(float beta, float inputScale) {
        double real = (double) beta * inputScale * (1 << DIFF_FRACTION_BITS);
        if (!(real > 1.0) || Double.isInfinite(real)) {
            throw new IllegalArgumentException("softmax with beta " + beta + " and input scale " + inputScale
                    + " has no fixed-point form; their product must be above 2^-26");
        }
        QuantizedMultiplier multiplier = QuantizedMultiplier.of(Math.min(real, (1L << 31) - 1.0));
        double radius = ((1 << DIFF_INTEGER_BITS) - 1) * (double) (1 << DIFF_FRACTION_BITS);
        int largest = (int) Math.floor(radius / (1L << multiplier.shift()));
        int[] table = new int[Math.min(SIZE, largest + 1)];
        for (int d = 0; d < table.length; d++) {
            table[d] = FixedPoint.saturatingRoundingDoublingHighMul(-d << multiplier.shift(), multiplier.multiplier());
        }
        return table;
    }

    /** The term of an exponential in the sum. */
    public static int term(int exponential) {
        return FixedPoint.roundingDivideByPot(exponential, SUM_INTEGER_BITS);
    }

    /**
     * {@code 1 / x} in Q0.31, where x in [1, 2) is the sum shifted to its highest bit: three Newton-Raphson steps.
     *
     * @param sum at least 2^19, the term of the row's largest element; unsigned
     */
    public static int reciprocal(int sum) {
        int x = (sum << Integer.numberOfLeadingZeros(sum)) - Integer.MIN_VALUE;
        return FixedPointFunctions.oneOverOnePlus(x);
    }

    /**
     * Bits by which {@code reciprocal * exponential} is shifted right; above 31 the result is 0.
     *
     * @param outputBits bits of the result, 8 or 16
     */
    public static int outputShift(int sum, int outputBits) {
        return SUM_INTEGER_BITS - Integer.numberOfLeadingZeros(sum) + 31 - outputBits;
    }

    private static int expOfNegative(int scaledDiff) {
        return FixedPointFunctions.expOfNegative(scaledDiff, DIFF_INTEGER_BITS);
    }
}
