// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * A float as an integer times a power of two, so that integers compute its multiples in single precision.
 *
 * @param mantissa 24 bits, the highest of them set
 * @param exponent power of two of the mantissa's last bit
 */
public record SingleFactor(int mantissa, int exponent) {
    private static final int FRACTION_BITS = 23;

    /** Factors whose multiples by bytes, and sums of many of them, are neither subnormal nor infinite. */
    private static final int MOST_EXPONENT = 40;

    /** The parts of a positive normal float. */
    public static SingleFactor of(float value) {
        int fraction = Float.floatToIntBits(value) & ((1 << FRACTION_BITS) - 1);
        return new SingleFactor(1 << FRACTION_BITS | fraction, Math.getExponent(value) - FRACTION_BITS);
    }

    /** Whether integers can take the place of floats: the magnitude is between 2^-40 and 2^40. */
    public static boolean isOrdinary(float value) {
        return value > 0 && Math.abs(Math.getExponent(value)) <= MOST_EXPONENT;
    }

    /** The range that {@link #isOrdinary} accepts, for messages. */
    public static String ordinaryText() {
        return "2^-" + MOST_EXPONENT + " to 2^" + MOST_EXPONENT;
    }

    /** A number of units of the mantissa's last bit, rounded to single precision. */
    public float real(long units) {
        return Math.scalb((float) units, exponent);
    }
}
