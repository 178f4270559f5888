// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;

/**
 * TensorFlow Lite's logistic function and hyperbolic tangent of int16 (integer_ops/logistic.h and tanh.h, table in
 * kernels/internal/common.cc): both interpolate in one table of the logistic function, as {@code tanh(x) = 2 * logistic(2 * x) - 1}.
 *
 * <pre>{@code
 * v = (x * multiplier + half) >> shift            steps of 1/12288
 * a = |v|, i = a >> b, f = a & (2^b - 1)          b = 9, and 8 for the hyperbolic tangent
 * r = i < 255 ? table[i] * 2^b + f * (table[i + 1] - table[i]) : the largest value
 * }</pre>
 */
public final class TflSigmoid {
    /** Elements of the table. */
    public static final int SIZE = 256;

    /** From this index on the functions have reached their limits. */
    public static final int LAST = SIZE - 1;

    /** Bits of the fraction of the logistic function's argument. */
    public static final int LOGISTIC_BITS = 9;

    /** Bits of the fraction of the hyperbolic tangent's argument. */
    public static final int TANH_BITS = 8;

    /** {@code r} at the logistic function's limit. */
    public static final int LOGISTIC_LIMIT = 0x7FFF << 10;

    /** {@code r} at the hyperbolic tangent's limit. */
    public static final int TANH_LIMIT = 0xFFFF << TANH_BITS;

    /** Bits by which results are shifted right. */
    public static final int LOGISTIC_SHIFT = 10;

    /** One half with the fraction's bits, where the hyperbolic tangent is 0. */
    private static final int TANH_ZERO = 1 << 23;

    private static final double STEPS_OF_ONE = 24;
    private static final int ONE = 1 << 16;
    private static final int[] TABLE = computed();

    private TflSigmoid() {}

    /**
     * {@code 1 / (1 + exp(-i / 24))} in units of 2^-16, from 32768 to 65535, as a new array. Chords lie below the
     * function, so each element is raised by half of the error in the middle of a step: a sixteenth of the curvature.
     * The last element is the limit.
     */
    public static int[] table() {
        return TABLE.clone();
    }

    private static int[] computed() {
        int[] table = new int[SIZE];
        for (int i = 0; i < LAST; i++) {
            double p = 1 / (1 + StrictMath.exp(-i / STEPS_OF_ONE));
            double curvature = p * (1 - p) * (2 * p - 1) / (STEPS_OF_ONE * STEPS_OF_ONE);
            table[i] = (int) FixedPoint.roundHalfAway(ONE * (p + curvature / 16));
        }
        table[LAST] = ONE - 1;
        return table;
    }

    /** The logistic function in units of 2^-15. */
    public static int logistic(int x, int multiplier, int shift) {
        int v = argument(x, multiplier, shift);
        int r = interpolated(Math.abs(v), LOGISTIC_BITS, LOGISTIC_LIMIT);
        int half = 1 << (LOGISTIC_SHIFT - 1);
        return (v >= 0 ? r + half : (ONE << LOGISTIC_BITS) - r + half - 1) >> LOGISTIC_SHIFT;
    }

    /** The hyperbolic tangent in units of 2^-15. */
    public static int tanh(int x, int multiplier, int shift) {
        int v = argument(x, multiplier, shift);
        int r = interpolated(Math.abs(v), TANH_BITS, TANH_LIMIT) - TANH_ZERO;
        int half = 1 << (TANH_BITS - 1);
        return (v >= 0 ? r + half : -r + half - 1) >> TANH_BITS;
    }

    /**
     * The logarithm of a scale in single precision, as the kernels compute it to detect powers of two (CheckedLog2).
     */
    public static float log2(float scale) {
        return (float) Math.log(scale) * (1.0f / (float) Math.log(2.0f));
    }

    private static int argument(int x, int multiplier, int shift) {
        return (x * multiplier + (shift > 0 ? 1 << (shift - 1) : 0)) >> shift;
    }

    private static int interpolated(int a, int bits, int limit) {
        int i = a >> bits;
        if (i >= LAST) {
            return limit;
        }
        return (TABLE[i] << bits) + (a & ((1 << bits) - 1)) * (TABLE[i + 1] - TABLE[i]);
    }
}
