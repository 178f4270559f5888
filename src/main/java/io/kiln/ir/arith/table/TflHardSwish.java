// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith.table;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Quantization;

/**
 * {@code x * min(6, max(0, x + 3)) / 6} of int8 in 16 bits, as in TensorFlow Lite's reference kernel
 * (reference/hard_swish.h, parameters from hard_swish_common.cc).
 */
public final class TflHardSwish {
    /** The scale on which 3 is one step more than the largest int16. */
    private static final float SLOPE_SCALE = 3.0f / 32768.0f;

    private static final float FINER = 1.0f / 128.0f;
    private static final int FINER_SHIFT = 7;
    private static final int MOST_SHIFT = 15;

    private final Quantization in;
    private final Quantization out;
    private final QuantizedMultiplier output;
    private final QuantizedMultiplier slope;

    private TflHardSwish(Quantization in, Quantization out) {
        this.in = in;
        this.out = out;
        float finer = FINER * in.scale();
        this.output = QuantizedMultiplier.of(finer / out.scale());
        this.slope = QuantizedMultiplier.of(finer / SLOPE_SCALE);
    }

    /**
     * The results by {@code value + 128}, as a new array.
     *
     * @throws IllegalArgumentException if the scales are too far apart for 16 bits
     */
    public static int[] table(Quantization in, Quantization out) {
        TflHardSwish function = new TflHardSwish(in, out);
        if (function.output.shift() > 0
                || function.output.shift() < -MOST_SHIFT
                || Math.abs(function.slope.shift()) > MOST_SHIFT) {
            throw new IllegalArgumentException(
                    "hard swish from scale " + in.scale() + " to scale " + out.scale() + " has no fixed-point form");
        }
        return TflActivations.table(function::apply);
    }

    private long apply(int value) {
        int x = (value - in.zeroPoint()) << FINER_SHIFT;
        int scaled = highMul(x, upperHalf(output));
        int factor = x;
        if (slope.shift() > 0) {
            factor = saturate((long) factor << (slope.shift() - 1));
        }
        factor = highMul(factor, upperHalf(slope));
        if (slope.shift() > 0) {
            factor = saturate((long) factor << 1);
        }
        if (slope.shift() < 0) {
            factor = FixedPoint.roundingDivideByPot(factor, -slope.shift());
        }
        factor = (factor + (1 << 15)) >> 1;
        // Towards zero, unlike the other products.
        int product = factor * scaled / (1 << 15);
        return (short) (FixedPoint.roundingDivideByPot(product, -output.shift()) + out.zeroPoint());
    }

    private static int upperHalf(QuantizedMultiplier by) {
        return by.multiplier() >= Integer.MAX_VALUE - (1 << 15) ? Short.MAX_VALUE : (by.multiplier() + (1 << 15)) >> 16;
    }

    /** The rounding doubling high multiply of 16 bits. */
    private static int highMul(int a, int b) {
        return a == Short.MIN_VALUE && b == Short.MIN_VALUE ? Short.MAX_VALUE : (a * b + (1 << 14)) >> 15;
    }

    private static int saturate(long value) {
        return FixedPoint.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE);
    }
}
