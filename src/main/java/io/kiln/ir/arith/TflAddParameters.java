// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;

/**
 * Multipliers of the quantized sum, as TensorFlow Lite prepares them (kernels/add.cc): both sides are brought to the
 * scale {@code 2 * max(lhsScale, rhsScale)} with {@code leftShift} more bits, added, and brought to the output's scale.
 *
 * @param leftShift bits by which {@code value - zeroPoint} is shifted left before rescaling; 20 for int8
 * @param lhs multiplier of the shifted left side, below 1
 * @param rhs multiplier of the shifted right side, below 1
 * @param output multiplier of the sum
 */
public record TflAddParameters(
        int leftShift, QuantizedMultiplier lhs, QuantizedMultiplier rhs, QuantizedMultiplier output) {
    private static final int INT8_LEFT_SHIFT = 20;

    /** Parameters for int8 operands; the scales must be positive and finite. */
    public static TflAddParameters of(float lhsScale, float rhsScale, float outputScale) {
        double twiceLargest = 2 * (double) Math.max(lhsScale, rhsScale);
        return new TflAddParameters(
                INT8_LEFT_SHIFT,
                QuantizedMultiplier.of(lhsScale / twiceLargest),
                QuantizedMultiplier.of(rhsScale / twiceLargest),
                QuantizedMultiplier.of(twiceLargest / ((1 << INT8_LEFT_SHIFT) * (double) outputScale)));
    }

    /** The left side on the common scale; the argument is {@code value - zeroPoint}. */
    public int scaleLhs(int centred) {
        return rescale(centred << leftShift, lhs);
    }

    /** The right side on the common scale; the argument is {@code value - zeroPoint}. */
    public int scaleRhs(int centred) {
        return rescale(centred << leftShift, rhs);
    }

    /** The sum of two scaled sides on the output's scale, before its zero point is added. */
    public int scaleOutput(int sum) {
        return rescale(sum, output);
    }

    private static int rescale(int value, QuantizedMultiplier by) {
        return FixedPoint.multiplyByQuantizedMultiplier(value, by.multiplier(), by.shift());
    }
}
