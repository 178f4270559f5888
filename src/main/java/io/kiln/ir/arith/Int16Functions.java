// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;

/**
 * The logistic function and the hyperbolic tangent in 16-bit fixed point as in gemmlowp (fixedpoint/fixedpoint.h with {@code
 * FixedPoint<int16_t, n>}), which TensorFlow Lite's library applies to the gates of its LSTM (portable_tensor_utils.cc). A number with n
 * integer bits has 15 - n fraction bits. With {@code p(a, b) = (a * b + 2^14) >> 15} and {@code half(a) = a / 2} rounded away from zero:
 *
 * <pre>{@code
 * exp(x), x <= 0:    r = (x mod 1/4) - 1/4,  a = r + 1/8
 *                    e = exp(-1/8) * (1 + a + half(p(a^4 / 4 + a^3, 1/3) + a^2))
 *                    e = p(e, exp(-2^k)) for each bit k of r - x, from -2 on; 0 from 16 on
 * y = 2 / (1 + e):   three Newton steps from 48/17 - 32/17 * (1 + e) / 2, with two integer bits
 * logistic(x) = 1/2 at 0, y / 2 of exp(-x) above, 1 - 2^-15 - logistic(-x) below
 * tanh(x) = 0 at 0, y - 1 of exp(-2 * x) above, -tanh(-x) below
 * }</pre>
 */
public final class Int16Functions {
    /** Integer bits of the argument of a gate's function. */
    public static final int GATE_BITS = 3;

    /** Most integer bits of an argument. */
    public static final int MOST_BITS = 6;

    private static final int FRACTION_BITS = 15;
    private static final int TWO_BITS_ONE = 1 << (FRACTION_BITS - 2);

    /** {@code exp(-2^k)} for k = -2 to 3 in units of 2^-15. */
    private static final int[] EXP_OF_MINUS_POWER = {25520, 19875, 12055, 4435, 600, 11};

    private static final int EXP_OF_MINUS_EIGHTH = 28918;
    private static final int ONE_THIRD = 10923;

    /** 48/17 and -32/17 with two integer bits: the linear initial value of the division. */
    private static final int START_CONSTANT = 23130;

    private static final int START_SLOPE = -15420;
    private static final int NEWTON_STEPS = 3;

    private Int16Functions() {}

    /**
     * {@code 1 / (1 + exp(-x))} in units of 2^-15.
     *
     * @param x an int16 with {@link #GATE_BITS} integer bits
     */
    public static int logistic(int x) {
        if (x == 0) {
            return 1 << (FRACTION_BITS - 1);
        }
        int ofMagnitude = saturated(2 * twoOverOnePlus(expOfNegative(-Math.abs(x), GATE_BITS)));
        return x > 0 ? ofMagnitude : Short.MAX_VALUE - ofMagnitude;
    }

    /**
     * The hyperbolic tangent in units of 2^-15.
     *
     * @param x an int16
     * @param integerBits its integer bits, 0 to {@link #MOST_BITS}
     */
    public static int tanh(int x, int integerBits) {
        if (x == 0) {
            return 0;
        }
        int exp = expOfNegative(-Math.abs(x), integerBits + 1);
        int ofMagnitude = saturated((twoOverOnePlus(exp) - TWO_BITS_ONE) * 4);
        return x > 0 ? ofMagnitude : -ofMagnitude;
    }

    private static int expOfNegative(int x, int integerBits) {
        int fractionBits = FRACTION_BITS - integerBits;
        int quarter = 1 << (fractionBits - 2);
        int inQuarter = (x & (quarter - 1)) - quarter;
        int remainder = inQuarter - x;
        if (remainder >> fractionBits >= 1 << 4) {
            return 0;
        }
        int result = expWithinQuarter(inQuarter << integerBits);
        for (int k = 0; k < EXP_OF_MINUS_POWER.length; k++) {
            if ((remainder >> (fractionBits - 2 + k) & 1) != 0) {
                result = product(result, EXP_OF_MINUS_POWER[k]);
            }
        }
        return result;
    }

    private static int expWithinQuarter(int a) {
        int x = a + (1 << (FRACTION_BITS - 3));
        int x2 = product(x, x);
        int x3 = product(x2, x);
        int x4 = product(x2, x2);
        int third = product(FixedPoint.roundingDivideByPot(x4, 2) + x3, ONE_THIRD);
        int higher = FixedPoint.roundingDivideByPot(third + x2, 1);
        return EXP_OF_MINUS_EIGHTH + product(EXP_OF_MINUS_EIGHTH, x + higher);
    }

    /** {@code 2 / (1 + e)} for e in [0, 1), with two integer bits. */
    private static int twoOverOnePlus(int e) {
        int halfDenominator = (e + Short.MAX_VALUE + 1) / 2;
        int y = START_CONSTANT + product(halfDenominator, START_SLOPE);
        for (int step = 0; step < NEWTON_STEPS; step++) {
            y += 4 * product(y, TWO_BITS_ONE - product(halfDenominator, y));
        }
        return y;
    }

    /** The rounding doubling high multiply of int16, of which not both are -2^15. */
    private static int product(int a, int b) {
        return (a * b + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
    }

    private static int saturated(int value) {
        return FixedPoint.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE);
    }
}
