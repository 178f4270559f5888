// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

/**
 * The byte between four bytes of an image as ONNX Runtime computes it (UpsampleBilinear in core/providers/cpu/tensor/upsample.h, between
 * DequantizeLinear and QuantizeLinear): products of two weights and a real number, summed one after the other, each step in single
 * precision. Weights are those of {@link Point}; those of a row, and those of a column, sum to 1.
 *
 * @param from scale of the bytes
 * @param to scale of the result
 * @param zeroPoint of the result
 */
public record OnnxBilinear(float from, float to, int zeroPoint) {
    /** Largest ratio of the scales: beyond it nearly every result saturates. */
    public static final double MOST_RATIO = 1 << 12;

    /** Bits after the point in the weight of a column. */
    public static final int COLUMN_BITS = 30;

    /** Bits of a weight with the ratio of the scales. */
    private static final int WEIGHT_BITS = 28;

    /** Four errors below 1.7 units of a weight, times the largest difference of bytes; see {@link #rowFactor}. */
    private static final int WEIGHT_ERROR = 4 * 2 * 256;

    /** Eight roundings of a sum whose terms' magnitudes sum to at most 256 steps of the bytes. */
    private static final double SUM_ERROR = Math.scalb(1.01, 8 + 3 - 24);

    /**
     * Where a result lies.
     *
     * @param dx1 weight of the right column
     * @param dx2 weight of the left column
     * @param dy1 weight of the lower row
     * @param dy2 weight of the upper row
     */
    public record Point(float dx1, float dx2, float dy1, float dy2) {}

    /** Bits after the point in which the exact result is computed. */
    public int fractionBits() {
        return WEIGHT_BITS - Math.max(0, Math.getExponent((double) from / to) + 1);
    }

    /** The weight of a row with the ratio of the scales, in fixed point. */
    public int rowFactor(float weight) {
        return (int) Math.round(weight * ((double) from / to) * (1L << fractionBits()));
    }

    /** The weight of a column, in fixed point. */
    public static int columnFactor(float weight) {
        return (int) Math.round(weight * (double) (1L << COLUMN_BITS));
    }

    /** Distance of the exact result to a half, in fixed point, within which the roundings of floats decide. */
    public long doubt() {
        double roundings = SUM_ERROR * from / to * (1L << fractionBits());
        return (long) Math.ceil(roundings) + WEIGHT_ERROR;
    }

    /**
     * The result.
     *
     * @param bytes less their zero point: upper left, upper right, lower left, lower right
     */
    public int interpolate(Point at, int... bytes) {
        float sum = at.dx2 * at.dy2 * (bytes[0] * from)
                + at.dx1 * at.dy2 * (bytes[1] * from)
                + at.dx2 * at.dy1 * (bytes[2] * from)
                + at.dx1 * at.dy1 * (bytes[3] * from);
        return (int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, Math.rint(sum / to) + zeroPoint));
    }
}
