// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.Arrays;

/** Maps floats to integers (keys) of the same order, so that comparing integers quantizes floats as QuantizeLinear does. */
public final class FloatKeys {
    /** Number of thresholds: one for each int8 but the smallest. */
    public static final int STEPS = 255;

    private static final int LOWEST = key(Float.NEGATIVE_INFINITY);
    private static final int HIGHEST = key(Float.POSITIVE_INFINITY);

    private FloatKeys() {}

    private static int key(float value) {
        int bits = Float.floatToIntBits(value);
        return bits < 0 ? bits ^ Integer.MAX_VALUE : bits;
    }

    private static float value(int key) {
        return Float.intBitsToFloat(key < 0 ? key ^ Integer.MAX_VALUE : key);
    }

    /**
     * The smallest key that gives each int8 but the smallest, for {@code saturate(round(x / scale) + zeroPoint)}, the quotient in single
     * precision and halves to even.
     *
     * @return {@link #STEPS} keys, ascending
     */
    public static int[] steps(float scale, int zeroPoint) {
        int[] steps = new int[STEPS];
        Arrays.setAll(steps, i -> step(scale, Byte.MIN_VALUE + i + 1 - zeroPoint));
        return steps;
    }

    /** A binary search between the infinities, whose quotients are below and above every result. */
    private static int step(float scale, int result) {
        long below = LOWEST;
        long from = HIGHEST;
        while (from - below > 1) {
            long middle = Math.floorDiv(below + from, 2);
            if (Math.rint(value((int) middle) / scale) < result) {
                below = middle;
            } else {
                from = middle;
            }
        }
        return (int) from;
    }
}
