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
public record RealBias(double factor, double bias, double scale) implements RealRescaling {
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
