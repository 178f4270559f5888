// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

/**
 * From which magnitude on a sum of integers is precise enough, as {@code (m * factor >> shift) + least} in units of the compared sum, where m is the sum
 * of a window's magnitudes in units of {@code 2^20}.
 *
 * <p>A float sum of n products, started by a bias, has an error of at most {@code (n + 1) u s}, where {@code u = 2^-24} and s is the sum of the products'
 * magnitudes and the bias's (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 3.1, without terms of second order). The significand of a
 * weight is within {@code 2u} of it, and a result is rounded once more, which would leave {@code (n - 2) u s} for the integers; they use
 * {@code (n - 3) u s}. Inputs are rounded to the nearest integer and weights rounded down, so that a sum of n products errs by at most the sum of the
 * inputs' magnitudes and half of that of the weights', and by what the core drops. It is precise enough if s is at least {@code 2^24 / (n - 3)} times
 * that; s is no less than the sum, and no less than the magnitudes of some of the products.
 *
 * @param factor below 2^7, unless the shift is 0
 * @param shift bits
 * @param least the part that does not depend on the inputs
 */
public record SoftPrecision(int factor, int shift, int least) {
    /** Fewest taps for which the bound leaves something for the integers. */
    public static final int LEAST_TAPS = 6;

    /** Most taps for which no sum of magnitudes overflows. */
    static final int MOST_TAPS = 8192;

    private static final int MANTISSA = 24;
    private static final int MAGNITUDE_UNIT = 20;
    private static final int FACTOR_BITS = 7;

    /**
     * The magnitude for a layer.
     *
     * @param taps of its window
     * @param padded with those that are 0
     * @param magnitude largest sum of the magnitudes of a channel's weights
     */
    static SoftPrecision of(SoftCore core, int taps, int padded, long magnitude) {
        double share = Math.scalb(1.0 / (taps - 3), MANTISSA - core.dropped());
        double factor = Math.scalb(share, MAGNITUDE_UNIT - core.unit());
        int shift = Math.max(0, FACTOR_BITS - 1 - Math.getExponent(factor));
        double least = core.error(padded) + Math.scalb(0.5 * magnitude + taps, -core.unit());
        return new SoftPrecision((int) Math.ceil(Math.scalb(factor, shift)), shift, (int) Math.ceil(share * least) + 1);
    }
}
