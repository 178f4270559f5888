// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;

/**
 * The rescaling of a sum as kernels of TensorFlow Lite do it with floats: {@code round(sum * slope + offset)}, halves away from zero, every
 * step in one precision.
 *
 * @param precision of the sum as a float, the product and the sum with the offset
 * @param slope a value of this precision, from 0 to 2^30
 * @param offset a value of this precision
 */
public record RealScale(FloatPrecision precision, double slope, double offset) implements RealRescaling {
    /** Bits of a multiplier. */
    private static final int DIGITS = 53;

    /** Beyond this shift, sums of 53 bits become 0. */
    private static final int MOST_SHIFT = 127;

    @Override
    public long rescale(long sum) {
        double product = precision.rounded(precision.rounded((double) sum) * slope);
        return FixedPoint.roundHalfAway(RealRescaling.limited(precision.rounded(product + offset)));
    }

    /** The slope's digits: {@code slope = multiplier * 2^(11 - shift)}, with a multiplier of 53 bits, or 0. */
    public long multiplier() {
        return isZero() ? 0 : Math.round(Math.scalb(slope, DIGITS - 1 - Math.getExponent(slope)));
    }

    /** The power of two of {@link #multiplier}, from 33 to 127. */
    public int shift() {
        return isZero() ? MOST_SHIFT : 63 - Math.getExponent(slope);
    }

    private boolean isZero() {
        return 63 - Math.getExponent(slope) > MOST_SHIFT;
    }
}
