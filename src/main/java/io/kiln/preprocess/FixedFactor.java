// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

/**
 * A positive real factor as {@code mantissa / 2^shift}.
 *
 * @param mantissa 1 or more
 * @param shift 1 to {@link #MAX_SHIFT}
 */
record FixedFactor(int mantissa, int shift) {
    /** With a rounding constant of {@code 2^61} and a product below {@code 2^62.6} the sum has 63 bits. */
    static final int MAX_SHIFT = 62;

    /** Whether a factor can be given: from {@code 2^-32} to below {@code 2^29}. */
    static boolean isRepresentable(double real) {
        return real >= 0x1p-32 && real < 0x1p29;
    }

    /** The nearest with a mantissa of 31 bits. */
    static FixedFactor of(double real) {
        int shift = 30 - Math.getExponent(real);
        long mantissa = mantissa(real, shift);
        return mantissa >> 31 == 0
                ? new FixedFactor((int) mantissa, shift)
                : new FixedFactor((int) (mantissa >> 1), shift - 1);
    }

    /** The mantissa of a real factor for a shift. */
    static long mantissa(double real, int shift) {
        return Math.round(Math.scalb(real, shift));
    }

    /** The product, rounded to the nearest integer, halves up. */
    static long times(long value, int mantissa, int shift) {
        return (value * mantissa + (1L << (shift - 1))) >> shift;
    }
}
