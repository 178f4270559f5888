// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.base.FixedPoint;

/** The rescaling of sums that a kernel does with floats. Results never fall as sums grow. */
public sealed interface RealRescaling {
    /** Results that saturate whatever the zero point is. */
    double MOST = 1 << 30;

    /** The result for a sum before the zero point, limited to 2^30. */
    long rescale(long sum);

    /** The step of the result for each step of the sum. */
    double slope();

    /** The exact result for the sum 0. */
    double offset();

    /** A result limited to 2^30. */
    static double limited(double result) {
        return Math.max(-MOST, Math.min(MOST, result));
    }

    /**
     * The rescaling of a sum of products of bytes to which a real number is added: {@code round((sum * factor + bias) / scale)} in double
     * precision, halves to even. Products of two scales are exact in double precision, and a sum of 32 bits times such a product loses less
     * than 2^-52 of it. So this is the function that ONNX Runtime approximates when it sums floats, whose roundings depend on the order of
     * its kernel's sums. Where floats are exact, as with scales that are powers of two, both are equal.
     *
     * @param factor scale of the data times scale of the weights
     * @param bias what is added, in the unit of {@code factor}; finite
     * @param scale of the result
     */
    record RealBias(double factor, double bias, double scale) implements RealRescaling {
        @Override
        public long rescale(long sum) {
            return (long) RealRescaling.limited(Math.rint((sum * factor + bias) / scale));
        }

        @Override
        public double slope() {
            return factor / scale;
        }

        @Override
        public double offset() {
            return bias / scale;
        }
    }

    /**
     * The rescaling of a sum as kernels of TensorFlow Lite do it with floats: {@code round(sum * slope + offset)}, halves away from zero, every
     * step in one precision.
     *
     * @param precision of the sum as a float, the product and the sum with the offset
     * @param slope a value of this precision, from 0 to 2^30
     * @param offset a value of this precision
     */
    record RealScale(FloatPrecision precision, double slope, double offset) implements RealRescaling {
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
}
