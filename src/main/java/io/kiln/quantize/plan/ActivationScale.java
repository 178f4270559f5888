// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Quantization;
import io.kiln.quantize.range.ValueRange;

/** Scales and zero points of activations (TensorFlow Lite, quantization_utils.cc). */
final class ActivationScale {
    private static final int INT8_STEPS = 255;

    private ActivationScale() {}

    /**
     * The quantization of a range in single precision. For int8 {@code scale = (max - min) / 255} and the zero point
     * {@code -128 - min / scale}, halves away from zero; for int16 {@code scale = max|x| / 32767} and zero point 0. A
     * range of 0 alone gets the smallest scale that an int8 model can state without trouble.
     */
    static Quantization of(Precision precision, ValueRange observed) {
        ValueRange range = observed.withZero();
        if (range.min() == range.max()) {
            return new Quantization(1f / INT8_STEPS, precision == Precision.INT8 ? Byte.MIN_VALUE : 0);
        }
        if (precision == Precision.INT16) {
            return new Quantization(positive(range.magnitude() / Short.MAX_VALUE), 0);
        }
        float scale = positive((range.max() - range.min()) / INT8_STEPS);
        float zero = Byte.MIN_VALUE - range.min() / scale;
        long rounded = Math.round(Math.abs((double) zero)) * (zero < 0 ? -1 : 1);
        return new Quantization(scale, (int) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, rounded)));
    }

    private static float positive(float scale) {
        return Math.max(scale, Float.MIN_NORMAL);
    }
}
