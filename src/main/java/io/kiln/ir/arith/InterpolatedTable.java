// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;
import java.util.function.DoubleUnaryOperator;

/**
 * Tables of 513 elements in which TensorFlow Lite interpolates functions of int16 (LUTPopulateInt16 and LUTLookup in
 * kernels/internal/common.h).
 */
public final class InterpolatedTable {
    private static final int STEPS = 512;

    /** Elements of a table. */
    public static final int SIZE = STEPS + 1;

    /** Bits of an argument that are the fraction of the step to the next element. */
    public static final int FRACTION_BITS = 7;

    /** The element at 0 of a table. */
    public static final int MIDDLE = STEPS / 2;

    private static final int VALUES = 1 << Short.SIZE;

    private InterpolatedTable() {}

    /**
     * Samples of a function, each shifted by half of the chord's error in the middle. What is no number becomes 0.
     *
     * @param precision of every step, in which both scales are
     * @param inputScale scale of the argument
     * @param inputZeroPoint its zero point
     * @param outputScale scale of the result, whose zero point is 0
     * @return a new array
     */
    public static int[] of(
            FloatPrecision precision,
            double inputScale,
            int inputZeroPoint,
            double outputScale,
            DoubleUnaryOperator function) {
        return new Samples(precision, inputScale, outputScale, function).table(inputZeroPoint);
    }

    /** The function of an int16 by a table. The step to the next element wraps around in 16 bits, and so does the result. */
    public static int at(int[] table, int value) {
        int index = MIDDLE + (value >> FRACTION_BITS);
        int slope = (short) (table[index + 1] - table[index]);
        int fraction = value & ((1 << FRACTION_BITS) - 1);
        return (short) (table[index] + ((slope * fraction + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS));
    }

    private record Samples(
            FloatPrecision precision, double inputScale, double outputScale, DoubleUnaryOperator function) {
        int[] table(int inputZeroPoint) {
            double low = rounded(inputScale * (Short.MIN_VALUE - inputZeroPoint));
            double high = rounded(inputScale * (Short.MAX_VALUE - inputZeroPoint));
            double step = rounded(rounded(high - low) / STEPS);
            double range = rounded(rounded(outputScale * Short.MAX_VALUE) - rounded(outputScale * Short.MIN_VALUE));
            double inverse = rounded(VALUES / range);
            int[] table = new int[SIZE];
            for (int i = 0; i < STEPS; i++) {
                double at = rounded(low + rounded(i * step));
                double after = rounded(low + rounded((i + 1) * step));
                double between = rounded(at + rounded(step / 2));
                double sample = whole(rounded(function.applyAsDouble(at) * inverse));
                double next = rounded(function.applyAsDouble(after) * inverse);
                double middle = whole(rounded(function.applyAsDouble(between) * inverse));
                double missed = rounded(whole(rounded(rounded(next + sample) / 2)) - middle);
                table[i] = limited(sample - whole(rounded(missed / 2)));
            }
            table[STEPS] = limited(whole(rounded(function.applyAsDouble(high) * inverse)));
            return table;
        }

        private double rounded(double x) {
            return precision.rounded(x);
        }

        private static double whole(double x) {
            return Double.isFinite(x) ? FixedPoint.roundHalfAway(x) : x;
        }

        private static int limited(double value) {
            return FixedPoint.clamp((long) value, Short.MIN_VALUE, Short.MAX_VALUE);
        }
    }
}
