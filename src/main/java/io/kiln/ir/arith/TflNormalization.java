// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import static io.kiln.base.FixedPoint.roundingDivideByPot;
import static io.kiln.base.FixedPoint.saturatingRoundingDoublingHighMul;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import java.util.Arrays;

/**
 * TensorFlow Lite's int8 LOG_SOFTMAX (reference/log_softmax.h) and L2_NORMALIZATION (reference/integer_ops/l2normalization.h).
 *
 * <p>For one vector of LOG_SOFTMAX, with {@code d[c] = max - data[c]} in 0..255:
 *
 * <pre>
 * sum    = sum over c of terms[d[c]]                                                       12 integer bits
 * out[c] = clamp(127 + roundingDivideByPot(differences[d[c]] - {@link #logarithm}(sum), 22), -128, 127)
 * </pre>
 *
 * <p>The reference kernel gives -128 without computing it where the difference would exceed its five integer bits.
 * Differences below -16 give -128 in any case, so they are limited to -20, from where no logarithm overflows 32 bits.
 */
public final class TflNormalization {
    /** Bits by which a logarithm with five integer bits is shifted right for the output's scale of 1/16. */
    public static final int OUTPUT_SHIFT = 22;

    /** The bits of the output's scale of 1/128 of L2_NORMALIZATION. */
    public static final int OUTPUT_BITS = 7;

    private static final int SIZE = 256;
    private static final int FLOOR = -20 << 26;
    private static final float LEAST_SCALE = 0x1p-25f;

    private static final int SUM_INTEGER_BITS = 12;
    private static final int LOG_2 = 1_488_522_236;
    private static final int SQRT_HALF = 1_518_500_250;
    private static final int FOURTH_ROOT_HALF = 1_805_811_301;
    private static final int ALPHA_N = 117_049_297;
    private static final int ALPHA_D = 127_690_142;
    private static final int ALPHA_I = 1_057_819_769;
    private static final int ALPHA_F = 638_450_708;
    private static final int POWER_BITS = 25;
    private static final int QUARTER = 1 << (POWER_BITS - 2);

    private TflNormalization() {}

    /** Whether LOG_SOFTMAX in fixed point is defined for an input scale. */
    public static boolean isScale(float inputScale) {
        return inputScale >= LEAST_SCALE && Float.isFinite(inputScale);
    }

    /** The condition of {@link #isScale}, for messages. */
    public static String scaleText() {
        return "a finite scale of 2^-25 or more";
    }

    /** {@code -inputScale * d} with five integer bits for d = 0 to 255, limited to at least -20. */
    public static int[] differences(float inputScale) {
        int[] scaled = TflSoftmaxTables.differences(1, inputScale);
        int[] table = new int[SIZE];
        Arrays.fill(table, FLOOR);
        for (int d = 0; d < scaled.length; d++) {
            table[d] = Math.max(FLOOR, scaled[d]);
        }
        return table;
    }

    /** The terms of the sum for d = 0 to 255: {@code exp(-inputScale * d)} with twelve integer bits. */
    public static int[] terms(float inputScale) {
        return Arrays.stream(TflSoftmaxTables.exponentials(1, inputScale))
                .map(TflSoftmaxTables::term)
                .toArray();
    }

    /** One element of LOG_SOFTMAX. */
    public static int logProbability(int difference, int logarithm) {
        return FixedPoint.clamp(roundingDivideByPot(difference - logarithm, OUTPUT_SHIFT) + 127L, -128, 127);
    }

    /**
     * The natural logarithm of a number with twelve integer bits; the result has five: gemmlowp's rational function
     * around the fourth root of 1/2 (log_x_for_x_greater_than_or_equal_to_1).
     *
     * @param x 1 or more, so at least 2^19
     */
    public static int logarithm(int x) {
        int zeros = Integer.numberOfLeadingZeros(x);
        int headroom = Integer.numberOfLeadingZeros(saturatingRoundingDoublingHighMul(x, SQRT_HALF)) - 1;
        long scaledA = 2L * saturatingRoundingDoublingHighMul(x << (zeros - 1), SQRT_HALF);
        long scaledB = (long) x << headroom;
        int r = (int) Math.min(Integer.MAX_VALUE, Math.min(scaledA, scaledB));
        int power = Math.max(
                ((SUM_INTEGER_BITS - zeros) << POWER_BITS) + QUARTER,
                ((SUM_INTEGER_BITS - headroom) << POWER_BITS) - QUARTER);
        int p = (int) (((long) r + FOURTH_ROOT_HALF + 1) / 2);
        int q = 2 * (r - FOURTH_ROOT_HALF);
        int square = saturatingRoundingDoublingHighMul(q, q);
        int numerator = saturatingRoundingDoublingHighMul(q, r)
                + saturatingRoundingDoublingHighMul(saturatingRoundingDoublingHighMul(q, square), ALPHA_N);
        int inner = ALPHA_I + q + saturatingRoundingDoublingHighMul(ALPHA_D, square);
        int denominator = saturatingRoundingDoublingHighMul(p, inner) + saturatingRoundingDoublingHighMul(ALPHA_F, q);
        int quotient = saturatingRoundingDoublingHighMul(
                roundingDivideByPot(numerator, 6), FixedPointFunctions.oneOverOnePlus(denominator));
        return 2 * (saturatingRoundingDoublingHighMul(power, LOG_2) + quotient);
    }

    /** One element of L2_NORMALIZATION, less its zero point, given {@link InverseSquareRoot#of} the sum of squares. */
    public static int normalized(int element, QuantizedMultiplier inverse) {
        int value =
                FixedPoint.multiplyByQuantizedMultiplier(element, inverse.multiplier(), inverse.shift() + OUTPUT_BITS);
        return FixedPoint.clamp(value, -128, 127);
    }
}
