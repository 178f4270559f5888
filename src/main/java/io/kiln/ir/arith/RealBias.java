// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

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
public record RealBias(double factor, double bias, double scale) {
    /** Results that saturate whatever the zero point is. */
    private static final double MOST = 1 << 30;

    /** The result for a sum before the zero point, limited to 2^30. Results never fall as sums grow. */
    public long rescale(long sum) {
        return (long) Math.max(-MOST, Math.min(MOST, Math.rint((sum * factor + bias) / scale)));
    }

    /** The step of the result for each step of the sum. */
    public double slope() {
        return factor / scale;
    }

    /** The exact result for the sum 0. */
    public double offset() {
        return bias / scale;
    }
}
