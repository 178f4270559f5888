// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/** Maps floats to integers (keys) of the same order, so that comparing integers quantizes floats. */
public final class FloatKeys {
    /** Number of thresholds: one for each int8 but the smallest. */
    public static final int STEPS = 255;

    private static final int LOWEST = key(Float.NEGATIVE_INFINITY);
    private static final int HIGHEST = key(Float.POSITIVE_INFINITY);

    private FloatKeys() {}

    /**
     * The key of a float: a greater float has a greater key, that of -0 is one below that of 0, and that of NaN is above all.
     */
    public static int key(float value) {
        int bits = Float.floatToIntBits(value);
        return bits < 0 ? bits ^ Integer.MAX_VALUE : bits;
    }

    public static float value(int key) {
        return Float.intBitsToFloat(key < 0 ? key ^ Integer.MAX_VALUE : key);
    }

    /**
     * The smallest key that gives each int8 but the smallest, for {@code saturate(round(x / scale) + zeroPoint)}, the quotient in single
     * precision.
     *
     * @param round whether halves go to even numbers, as in QuantizeLinear of ONNX, or away from zero, as in TensorFlow Lite
     * @return {@link #STEPS} keys, ascending
     */
    public static int[] steps(float scale, int zeroPoint, DoubleUnaryOperator round) {
        int[] steps = new int[STEPS];
        Arrays.setAll(steps, i -> step(scale, Byte.MIN_VALUE + i + 1 - zeroPoint, round));
        return steps;
    }

    /** A binary search between the infinities, whose quotients are below and above every result. */
    private static int step(float scale, int result, DoubleUnaryOperator round) {
        long below = LOWEST;
        long from = HIGHEST;
        while (from - below > 1) {
            long middle = Math.floorDiv(below + from, 2);
            if (round.applyAsDouble(value((int) middle) / scale) < result) {
                below = middle;
            } else {
                from = middle;
            }
        }
        return (int) from;
    }
}
