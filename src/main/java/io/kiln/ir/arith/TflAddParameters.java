// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;

/**
 * Multipliers of quantized sums and differences, as prepared by TensorFlow Lite Micro (add_common.cc, sub_common.cc,
 * squared_difference.cc): both operands are rescaled to the scale {@code 2 * max(lhsScale, rhsScale)} with {@code
 * leftShift} more bits, added or subtracted, and rescaled to the output's scale.
 *
 * @param leftShift bits by which {@code value - zeroPoint} is shifted left before rescaling; 20 for sums of int8
 * @param lhs multiplier of the shifted left operand, below 1
 * @param rhs multiplier of the shifted right operand, below 1
 * @param output multiplier of the sum
 */
public record TflAddParameters(
        int leftShift, QuantizedMultiplier lhs, QuantizedMultiplier rhs, QuantizedMultiplier output) {
    private static final int INT8_LEFT_SHIFT = 20;
    private static final int INT16_LEFT_SHIFT = 15;
    private static final int INT8_SQUARE_SHIFT = 7;

    /** Parameters for int8 operands; the scales must be positive and finite. */
    public static TflAddParameters of(float lhsScale, float rhsScale, float outputScale) {
        return of(DType.INT8, lhsScale, rhsScale, outputScale);
    }

    /** Parameters of a sum of int8 or int16 operands; the scales must be positive and finite. */
    public static TflAddParameters of(DType dtype, float lhsScale, float rhsScale, float outputScale) {
        int leftShift = dtype == DType.INT16 ? INT16_LEFT_SHIFT : INT8_LEFT_SHIFT;
        double twiceLargest = 2 * (double) Math.max(lhsScale, rhsScale);
        return new TflAddParameters(
                leftShift,
                QuantizedMultiplier.of(lhsScale / twiceLargest),
                QuantizedMultiplier.of(rhsScale / twiceLargest),
                QuantizedMultiplier.of(twiceLargest / ((1 << leftShift) * (double) outputScale)));
    }

    /** Parameters of a difference: as for a sum, but every quotient is rounded to single precision. */
    public static TflAddParameters ofDifference(DType dtype, float lhsScale, float rhsScale, float outputScale) {
        int leftShift = dtype == DType.INT16 ? INT16_LEFT_SHIFT : INT8_LEFT_SHIFT;
        float twiceLargest = 2 * Math.max(lhsScale, rhsScale);
        return new TflAddParameters(
                leftShift,
                QuantizedMultiplier.of(lhsScale / twiceLargest),
                QuantizedMultiplier.of(rhsScale / twiceLargest),
                QuantizedMultiplier.of(twiceLargest / ((1 << leftShift) * outputScale)));
    }

    /** Parameters of a squared difference; the output's multiplier is of the square and may be above 1. */
    public static TflAddParameters ofSquaredDifference(DType dtype, float lhsScale, float rhsScale, float outputScale) {
        int leftShift = dtype == DType.INT16 ? 0 : INT8_SQUARE_SHIFT;
        double twiceLargest = 2 * (double) Math.max(lhsScale, rhsScale);
        return new TflAddParameters(
                leftShift,
                QuantizedMultiplier.of(lhsScale / twiceLargest),
                QuantizedMultiplier.of(rhsScale / twiceLargest),
                QuantizedMultiplier.of(twiceLargest * twiceLargest / ((1 << (2 * leftShift)) * outputScale)));
    }

    /** Whether the reference kernel supports a sum or difference: its multiplier must be below 1 and not vanish. */
    public boolean isBelowOne() {
        return output.multiplier() > 0 && output.shift() <= 0;
    }

    /** The left operand on the common scale; the argument is {@code value - zeroPoint}. */
    public int scaleLhs(int centred) {
        return rescale(centred << leftShift, lhs);
    }

    /** The right operand on the common scale; the argument is {@code value - zeroPoint}. */
    public int scaleRhs(int centred) {
        return rescale(centred << leftShift, rhs);
    }

    /** The sum of two scaled operands on the output's scale, before its zero point is added. */
    public int scaleOutput(int sum) {
        return rescale(sum, output);
    }

    private static int rescale(int value, QuantizedMultiplier by) {
        return FixedPoint.multiplyByQuantizedMultiplier(value, by.multiplier(), by.shift());
    }
}
