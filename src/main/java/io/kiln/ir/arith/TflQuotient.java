// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;

/**
 * TensorFlow Lite's quotient of int8 (reference/div.h): the dividend, shifted left as far as possible, times the
 * divisor's reciprocal, times the quotient of the scales.
 *
 * @param by {@code lhsScale / (rhsScale * outputScale)}, computed in single precision
 */
public record TflQuotient(QuantizedMultiplier by) {
    /** Number of divisors by magnitude, including 0, which is treated as 1. */
    public static final int DIVISORS = 256;

    /**
     * Least headroom of a dividend of 8 bits and a zero point; the scales' shift stays below it, so that shifts are to
     * the right.
     */
    private static final int LEAST_HEADROOM = 22;

    private static final int REST_BITS = 31;

    /** For scales that are positive and finite. */
    public static TflQuotient of(float lhsScale, float rhsScale, float outputScale) {
        return new TflQuotient(QuantizedMultiplier.of(lhsScale / (rhsScale * outputScale)));
    }

    /** Whether the reference kernel's shifts stay in their ranges. */
    public boolean isDefined() {
        return by.shift() <= LEAST_HEADROOM && by.shift() >= -LEAST_HEADROOM;
    }

    /** {@code 2^30 / y} to {@code 2^31 / y} in Q31: the reciprocal's digits. */
    public static int reciprocal(int y) {
        int zeros = Integer.numberOfLeadingZeros(Math.max(y, 1));
        return FixedPointFunctions.oneOverOnePlus((Math.max(y, 1) << zeros) - Integer.MIN_VALUE);
    }

    /** The shift of {@link #reciprocal}. */
    public static int reciprocalShift(int y) {
        return REST_BITS - Integer.numberOfLeadingZeros(Math.max(y, 1));
    }

    /** The quotient of {@code value - zeroPoint} of both operands, before the output's zero point is added. */
    public int apply(int x, int y) {
        int dividend = y < 0 ? -x : x;
        int divisor = Math.abs(y);
        int headroom = headroom(dividend);
        int quotient = FixedPoint.saturatingRoundingDoublingHighMul(dividend << headroom, reciprocal(divisor));
        int right = headroom + reciprocalShift(divisor) - by.shift();
        return right > REST_BITS
                ? 0
                : FixedPoint.roundingDivideByPot(
                        FixedPoint.saturatingRoundingDoublingHighMul(quotient, by.multiplier()), right);
    }

    /** Bits by which a number can be shifted left without changing its sign. */
    private static int headroom(int x) {
        return Integer.numberOfLeadingZeros(x < 0 ? -x - 1 : x) - 1;
    }
}
