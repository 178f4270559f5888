// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import io.kiln.ir.op.OnnxForm;
import java.util.Arrays;

/**
 * The byte of a sum of floats divided by their number, as ONNX Runtime computes it: a quotient in single precision, divided by the scale,
 * rounded to even. QuantizeLinear adds the zero point after rounding, QLinearAveragePool before
 * (contrib_ops/cpu/quantization/qlinear_pool.cc).
 *
 * @param from scale of the elements
 * @param to scale of the result
 * @param zeroPoint of the result, as int8
 * @param form which kernel
 */
public record OnnxMean(float from, float to, int zeroPoint, OnnxForm form) {
    /** Number of thresholds: one for each int8 but the smallest. */
    public static final int STEPS = 255;

    /** Roundings besides those of the sum: of the operands, both quotients, the scale, and the zero point. */
    private static final int MORE_ROUNDINGS = 8;

    /** Bits after the point in which the exact mean is computed, if its whole part leaves room. */
    private static final int MOST_FRACTION_BITS = 40;

    private static final int WORD_BITS = 61;
    private static final double HALF_ULP = Math.scalb(1.0, -24);

    /** Results that saturate are as clear as others; no mean is farther from its zero point than this. */
    private static final double WIDTH = 256;

    /**
     * The exact mean of integers in fixed point. It decides the result, unless it is so close to a half that the roundings of floats
     * decide.
     *
     * @param factor of the sum of bytes less their zero point
     * @param doubt distance to a half within which the roundings of floats decide
     */
    public record Exact(long factor, long doubt) {}

    /** Bits after the point of {@link #exact}. */
    public int fractionBits() {
        return Math.min(MOST_FRACTION_BITS, WORD_BITS - Math.getExponent(2 * WIDTH * (1 + (double) from / to)));
    }

    /** The exact mean of a number of bytes. */
    public Exact exact(int count) {
        double unit = Math.scalb(1.0, fractionBits());
        long factor = Math.round((double) from / to / count * unit);
        return new Exact(factor, (long) Math.ceil(error(count) * unit) + (long) (WIDTH * count));
    }

    /** The most by which the roundings of floats change a mean, in steps of the result: partial sums are no larger than all elements. */
    public double error(long count) {
        return WIDTH * (2 + (double) from / to) * (count + MORE_ROUNDINGS) * HALF_ULP;
    }

    /** The result for a sum in single precision. */
    public int quantize(float sum, int count) {
        float steps = sum / count / to;
        double rounded = form == OnnxForm.QDQ
                ? Math.rint(steps) + zeroPoint
                : Math.rint(steps + (zeroPoint + form.offset())) - form.offset();
        return (int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, rounded));
    }

    /**
     * The smallest sum, in units of {@link SingleFactor} of {@code from}, that gives each int8 but the smallest: results never fall as
     * sums grow.
     *
     * @param count elements of the mean
     * @return {@link #STEPS} sums, ascending
     */
    public long[] steps(int count) {
        SingleFactor unit = SingleFactor.of(from);
        long[] steps = new long[STEPS];
        Arrays.setAll(steps, i -> step(unit, count, Byte.MIN_VALUE + i + 1));
        return steps;
    }

    private long step(SingleFactor unit, int count, int result) {
        long below = -((long) count << Integer.SIZE);
        long from = -below;
        while (from - below > 1) {
            long middle = below + (from - below) / 2;
            if (quantize(unit.real(middle), count) < result) {
                below = middle;
            } else {
                from = middle;
            }
        }
        return from;
    }
}
