// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static io.kiln.base.FixedPoint.roundingDivideByPot;
import static io.kiln.base.FixedPoint.saturatingRoundingDoublingHighMul;

/**
 * Transcendental functions on 32-bit fixed point as in gemmlowp (fixedpoint/fixedpoint.h). A number with n integer bits
 * has 31 - n fraction bits; products go through the rounding doubling high multiply, so that integer bits add up.
 */
public final class FixedPointFunctions {
    /** {@code exp(-2^k)} in Q0.31 for k = -2 to 4. */
    private static final int[] EXP_OF_MINUS_POWER = {
        1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242
    };

    private static final int EXP_OF_MINUS_EIGHTH = 1_895_147_668;
    private static final int ONE_THIRD = 715_827_883;

    /** 48/17 and -32/17 with two integer bits: the linear initial value of the division. */
    private static final int START_CONSTANT = 1_515_870_810;

    private static final int START_SLOPE = -1_010_580_540;

    private FixedPointFunctions() {}

    /**
     * Exponential of a non-positive number, in Q0.31.
     *
     * @param integerBits integer bits of the argument, at most 5
     */
    static int expOfNegative(int x, int integerBits) {
        if (x == 0) {
            return Integer.MAX_VALUE;
        }
        int fractionBits = 31 - integerBits;
        int quarter = 1 << (fractionBits - 2);
        int inQuarter = (x & (quarter - 1)) - quarter;
        int result = expWithinQuarter(inQuarter << integerBits);
        int remainder = inQuarter - x;
        for (int k = -2; k < integerBits; k++) {
            if ((remainder & (1 << (fractionBits + k))) != 0) {
                result = saturatingRoundingDoublingHighMul(result, EXP_OF_MINUS_POWER[k + 2]);
            }
        }
        return result;
    }

    /** Exponential on [-1/4, 0), Q0.31 to Q0.31: the Taylor series around -1/8 up to the fourth power. */
    private static int expWithinQuarter(int a) {
        int x = a + (1 << 28);
        int x2 = saturatingRoundingDoublingHighMul(x, x);
        int x3 = saturatingRoundingDoublingHighMul(x2, x);
        int x4 = saturatingRoundingDoublingHighMul(x2, x2);
        int third = saturatingRoundingDoublingHighMul(roundingDivideByPot(x4, 2) + x3, ONE_THIRD);
        int higher = roundingDivideByPot(third + x2, 1);
        return EXP_OF_MINUS_EIGHTH + saturatingRoundingDoublingHighMul(EXP_OF_MINUS_EIGHTH, x + higher);
    }

    /** {@code 1 / (1 + x)} for x in [0, 1), Q0.31 to Q0.31. */
    static int oneOverOnePlus(int x) {
        return shiftLeftSaturating(twoOverOnePlus(x), 1);
    }

    /** {@code (1 - x) / (1 + x)} for x in [0, 1), Q0.31 to Q0.31. */
    private static int oneMinusOverOnePlus(int x) {
        return shiftLeftSaturating(twoOverOnePlus(x) - (1 << 29), 2);
    }

    /** {@code 1 / (1 + exp(-x))} in Q0.31; the argument has four integer bits. */
    public static int logistic(int x) {
        if (x == 0) {
            return 1 << 30;
        }
        int ofMagnitude = oneOverOnePlus(expOfNegative(-Math.abs(x), 4));
        return x > 0 ? ofMagnitude : Integer.MAX_VALUE - ofMagnitude;
    }

    /** The hyperbolic tangent in Q0.31; the argument has four integer bits. */
    public static int tanh(int x) {
        if (x == 0) {
            return 0;
        }
        int ofMagnitude = oneMinusOverOnePlus(expOfNegative(-Math.abs(x), 5));
        return x > 0 ? ofMagnitude : -ofMagnitude;
    }

    /** {@code 2 / (1 + x)} for x in [0, 1), with two integer bits. */
    private static int twoOverOnePlus(int x) {
        int halfDenominator = (int) (((long) x + Integer.MAX_VALUE + 1) / 2);
        int y = START_CONSTANT + saturatingRoundingDoublingHighMul(halfDenominator, START_SLOPE);
        for (int step = 0; step < 3; step++) {
            int error = (1 << 29) - saturatingRoundingDoublingHighMul(halfDenominator, y);
            y += shiftLeftSaturating(saturatingRoundingDoublingHighMul(y, error), 2);
        }
        return y;
    }

    static int shiftLeftSaturating(int x, int bits) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, (long) x << bits));
    }
}
