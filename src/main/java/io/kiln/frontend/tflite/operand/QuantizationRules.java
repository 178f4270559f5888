// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TensorQuantization;
import io.kiln.frontend.tflite.tensor.TfliteTensor;

/** Rules for the output quantization of operators that do not rescale. */
public final class QuantizationRules {
    /** TFLite treats scales as equal up to this difference. */
    private static final float TOLERANCE = 1e-6f;

    private QuantizationRules() {}

    /** The output's quantization must equal the input's. */
    public static void requireEqual(OperatorContext operator, TfliteTensor input, TfliteTensor output) {
        TensorQuantization from = input.quantization();
        TensorQuantization to = output.quantization();
        operator.require(
                Math.abs(from.scale(0) - to.scale(0)) <= TOLERANCE && from.zeroPoint() == to.zeroPoint(),
                "output `" + output.name() + "` has scale " + to.scale(0) + " and zero point " + to.zeroPoint(),
                "the input's scale " + from.scale(0) + " and zero point " + from.zeroPoint(),
                "Quantize the model again");
    }

    /** The output must have a given quantization, its scale within a thousandth. */
    public static void requireFixed(OperatorContext operator, TfliteTensor output, float scale, int zeroPoint) {
        TensorQuantization to = output.quantization();
        operator.require(
                Math.abs(to.scale(0) - scale) <= 0.001f * scale && to.zeroPoint() == zeroPoint,
                "output `" + output.name() + "` has scale " + to.scale(0) + " and zero point " + to.zeroPoint(),
                "scale " + scale + " and zero point " + zeroPoint,
                "Quantize the model again");
    }
}
