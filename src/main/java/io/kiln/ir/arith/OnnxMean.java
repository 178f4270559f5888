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
    /** Bytes above the least one. */
    public static final int STEPS = 255;

    /** The result for a sum in single precision. */
    public int quantize(float sum, int count) {
        float steps = sum / count / to;
        double rounded = form == OnnxForm.QDQ
                ? Math.rint(steps) + zeroPoint
                : Math.rint(steps + (zeroPoint + form.offset())) - form.offset();
        return (int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, rounded));
    }

    /**
     * The least sum, in units of {@link SingleFactor} of {@code from}, of each byte but the lowest: results never fall as sums grow.
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
