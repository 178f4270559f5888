// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.reduce.Reduce;
import java.util.List;
import java.util.Optional;

/**
 * Layers with float data and int8 weights as TensorFlow Lite computes them: the data is quantized at run time, each row of a dense layer and each
 * image of a convolution by itself, and sums are integers (fully_connected.cc: EvalHybridDense, conv.cc and depthwise_conv.cc:
 * EvalHybrid, EvalHybridPerChannel, portable_tensor_utils.cc). Integers that a later step needs as floats are exact.
 */
final class HybridLayers {
    private static final float MOST = 127;

    /** Below it the inverse of the scale is infinite, and the library's result not defined. */
    private static final float LEAST_RANGE = 3.75e-37f;

    private HybridLayers() {}

    /**
     * Data quantized at run time.
     *
     * @param data int8 with zero point 0, or int16 from -255 to 255, from which the zero point was subtracted
     * @param scale float32, 1 in the dimensions that were quantized together
     */
    record Quantized(Arg data, Arg scale) {}

    /** Quantizes data; dimensions that are quantized together are given. */
    static Quantized quantize(OperatorContext operator, Arg data, List<Integer> together, boolean isAsymmetric) {
        return isAsymmetric ? asymmetric(operator, data, together) : symmetric(operator, data, together);
    }

    private static Quantized symmetric(OperatorContext operator, Arg data, List<Integer> together) {
        Arg magnitude = operator.abs(data);
        Arg largest = operator.reduce(Reduce.Kind.MAX, magnitude, together);
        Arg range = operator.maximum(largest, Constant.scalar(LEAST_RANGE));
        Arg inverse = operator.divide(Constant.scalar(MOST), range);
        Arg scaled = operator.multiply(data, inverse);
        Arg rounded = operator.unary(Unary.Kind.ROUND_AWAY, scaled);
        Arg limited = operator.emit(new Clip(-MOST, MOST), rounded);
        return new Quantized(operator.cast(limited, DType.INT8), operator.divide(range, Constant.scalar(MOST)));
    }

    private static Quantized asymmetric(OperatorContext operator, Arg data, List<Integer> together) {
        Arg least = operator.reduce(Reduce.Kind.MIN, data, together);
        Arg most = operator.reduce(Reduce.Kind.MAX, data, together);
        Arg scale = operator.binary(Binary.Kind.QUANTIZATION_SCALE, least, most);
        Arg zeroPoint = operator.binary(Binary.Kind.QUANTIZATION_ZERO_POINT, least, most);
        Arg inverse = operator.divide(Constant.scalar(1f), scale);
        Arg scaled = operator.multiply(data, inverse);
        Arg shifted = operator.add(scaled, zeroPoint);
        Arg rounded = operator.unary(Unary.Kind.ROUND_AWAY, shifted);
        Arg limited = operator.emit(new Clip(Byte.MIN_VALUE, Byte.MAX_VALUE), rounded);
        Arg centred = operator.subtract(limited, zeroPoint);
        return new Quantized(operator.cast(centred, DType.INT16), scale);
    }

    /** Sums of a quantized layer as floats. */
    static Arg sums(OperatorContext operator, Quantized data, Arg weights, Op op) {
        Arg sum = operator.emit(
                op,
                data.data,
                weights,
                Constant.scalar(0),
                Constant.scalar(0),
                Constant.scalar(1f),
                Constant.scalar(1f));
        return operator.cast(sum, DType.FLOAT32);
    }

    /** Sums times both scales, whose product is rounded first. */
    static Arg scaledAtOnce(OperatorContext operator, Arg sums, Quantized data, TensorQuantization weights) {
        Arg scale = operator.multiply(data.scale, Requantizing.scales(operator, weights));
        return operator.multiply(sums, scale);
    }

    /** Sums times the weights' scale, and the result times the data's. */
    static Arg scaledInTurn(OperatorContext operator, Arg sums, Quantized data, TensorQuantization weights) {
        Arg scaled = operator.multiply(sums, Requantizing.scales(operator, weights));
        return operator.multiply(scaled, data.scale);
    }

    /** Adds a bias along the last dimension. */
    static Arg plus(OperatorContext operator, Arg value, Optional<TfliteTensor> bias) {
        return bias.map(tensor -> operator.add(value, operator.value(tensor))).orElse(value);
    }
}
