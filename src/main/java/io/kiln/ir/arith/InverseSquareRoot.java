// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static io.kiln.base.FixedPoint.saturatingRoundingDoublingHighMul;

import io.kiln.base.FixedPoint.QuantizedMultiplier;

/**
 * {@code 1 / sqrt(x)} of an integer as a multiplier, by Newton's method in fixed point
 * (GetInvSqrtQuantizedMultiplierExp).
 */
public final class InverseSquareRoot {
    private static final int STEPS = 5;

    /** 1 and 1.5 with three integer bits. */
    private static final int ONE = 1 << 28;

    private static final int THREE_HALVES = ONE + ONE / 2;

    /** {@code sqrt(2) / 2} in Q0.31. */
    private static final int HALF_SQRT_2 = 1_518_500_250;

    private InverseSquareRoot() {}

    /**
     * The multiplier of a number.
     *
     * @param x 0 or more; 0 counts as 1
     * @return a multiplier with a shift of 0 or less
     */
    public static QuantizedMultiplier of(int x) {
        int right = exponent(x);
        int root = root(x);
        return right < 0 ? new QuantizedMultiplier(root << -right, 0) : new QuantizedMultiplier(root, -right);
    }

    /** Half the bits by which a number is shifted to lie from 2^27 to 2^29 - 1, and 11: {@code 1 / sqrt(x) = root * 2^-(31 + exponent)}. */
    public static int exponent(int x) {
        return x <= 1 ? 0 : 12 - (Integer.numberOfLeadingZeros(x) - 1) / 2;
    }

    /** The multiplier that goes with {@link #exponent}. */
    public static int root(int x) {
        if (x <= 1) {
            return Integer.MAX_VALUE;
        }
        int pairs = 11 - exponent(x);
        return newton(pairs < 0 ? x >> (-2 * pairs) : x << (2 * pairs));
    }

    /** For a number from 2^27 to 2^29 - 1; products add integer bits, of which three are needed. */
    private static int newton(int input) {
        int half = roundingHalf(input >> 1);
        int x = ONE;
        for (int step = 0; step < STEPS; step++) {
            int square = saturatingRoundingDoublingHighMul(x, x);
            int cube = FixedPointFunctions.shiftLeftSaturating(saturatingRoundingDoublingHighMul(square, x), 6);
            int next =
                    saturatingRoundingDoublingHighMul(THREE_HALVES, x) - saturatingRoundingDoublingHighMul(half, cube);
            x = FixedPointFunctions.shiftLeftSaturating(next, 3);
        }
        return saturatingRoundingDoublingHighMul(x, HALF_SQRT_2);
    }

    private static int roundingHalf(int x) {
        return (x >> 1) + (x & 1);
    }
}
