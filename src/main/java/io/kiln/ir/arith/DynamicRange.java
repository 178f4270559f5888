// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;

/**
 * The quantization to int8 of numbers that are known at run time (portable_tensor_utils.cc: PortableAsymmetricQuantizeFloats), in double
 * precision.
 *
 * @param low the least of the numbers and 0
 * @param high the largest of the numbers and 0
 */
public record DynamicRange(double low, double high) {
    private static final double STEPS = 255;

    /** The range of numbers; infinite ones count as the largest float, those that are no numbers as 0. */
    public static DynamicRange of(float least, float most) {
        return new DynamicRange(
                least < 0 ? Math.max(-Float.MAX_VALUE, least) : 0, most > 0 ? Math.min(Float.MAX_VALUE, most) : 0);
    }

    /** The scale in single precision; 1 if there is only 0. */
    public float scale() {
        return (float) step();
    }

    private double step() {
        return high > low ? (high - low) / STEPS : 1;
    }

    /** The value that stands for 0, derived from the end that gives the smaller error; 0 if there is only 0. */
    public int zeroPoint() {
        if (!(high > low)) {
            return 0;
        }
        double below = low / step();
        double above = high / step();
        double zero =
                -Byte.MIN_VALUE - below < Byte.MAX_VALUE + above ? Byte.MIN_VALUE - below : Byte.MAX_VALUE - above;
        return (int) FixedPoint.roundHalfAway(Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, zero)));
    }
}
