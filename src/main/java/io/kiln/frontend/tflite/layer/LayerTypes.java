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
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Element types of convolutions and fully connected layers: int8 data with int8 or int4 weights, int16 data with int8 weights,
 * or float32 data with weights of float32, float16 or int8.
 */
public final class LayerTypes {
    private static final String SUPPORTED =
            "int8 data with int8 or int4 weights, int16 data with int8 weights, or float32 data with float or int8"
                    + " weights";

    private LayerTypes() {}

    /** Data and output of one type, quantized with one scale each; int16 with zero point 0. */
    static void requireData(OperatorContext operator, TfliteTensor data, TfliteTensor output) {
        DType dtype = data.dtype();
        boolean supported = dtype == DType.INT8 || dtype == DType.INT16 || dtype.isFloat();
        for (TfliteTensor tensor : List.of(data, output)) {
            requireElements(operator, tensor);
            boolean fits = operator.require(
                    supported && tensor.dtype() == dtype,
                    "element type " + tensor.dtype().text() + " of `" + tensor.name() + "` is not supported here",
                    "int8, int16 or float32, the same for data and output",
                    "Quantize the whole model, inputs and outputs included, or keep all of it float32");
            if (fits && !dtype.isFloat()) {
                operator.requireScales(tensor);
                requireCentred(operator, tensor);
            }
        }
    }

    /** Sizes must be positive, because layers divide by them. */
    private static void requireElements(OperatorContext operator, TfliteTensor tensor) {
        operator.require(tensor.shape().elements() > 0, tensor.text() + " has no elements", "dimensions of at least 1");
    }

    private static void requireCentred(OperatorContext operator, TfliteTensor tensor) {
        operator.require(
                tensor.dtype() != DType.INT16 || tensor.quantization().isSymmetric(),
                "`" + tensor.name() + "` has zero point "
                        + (tensor.quantization().isPresent()
                                ? tensor.quantization().zeroPoint()
                                : 0),
                "zero point 0 for int16",
                "Quantize the model again");
    }

    /** Weights of a type that fits the data's; those of float32 data are float32, or known at build time. */
    static void requireWeights(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
        requireElements(operator, weights);
        boolean isInt8 = weights.dtype() == DType.INT8;
        operator.require(
                isInt8 || (data.dtype().isFloat() && weights.dtype().isFloat()),
                "weights `" + weights.name() + "` are " + weights.dtype().text(),
                SUPPORTED,
                "Convert the model again");
        operator.require(
                !isInt8 || weights.shifted() == data.shifted(),
                "weights `" + weights.name() + "` and data `" + data.name() + "` are not both uint8",
                SUPPORTED + "; or uint8 data with uint8 weights",
                "Convert the model again");
        if (isHybrid(data, weights)) {
            operator.requireConstant("weights", weights);
        }
        operator.require(
                !isInt8 || weights.quantization().isPresent(),
                "weights `" + weights.name() + "` have no scale",
                "one scale, or one per output channel",
                "Quantize the model again");
    }

    /** Weights of a convolution, if quantized, have one scale, or one per output channel, and zero point 0 unless they are uint8. */
    static void requireWeightScales(OperatorContext operator, TfliteTensor weights, int channels, int dimension) {
        if (weights.dtype() != DType.INT8) {
            return;
        }
        TensorQuantization quantization = weights.quantization();
        operator.require(
                quantization.isSymmetric() || (weights.shifted() && quantization.isPerTensor()),
                "weights `" + weights.name() + "` have a zero point other than 0",
                "symmetric weights",
                "Quantize the model again");
        operator.require(
                quantization.isPerTensor()
                        || (quantization.scaleCount() == channels && quantization.dimension() == dimension),
                "weights `" + weights.name() + "` have " + quantization.scaleCount() + " scales in dimension "
                        + quantization.dimension(),
                "one scale, or " + channels + " in dimension " + dimension,
                "Quantize the model again");
    }

    /**
     * A vector with one element per output channel; with int16 data, whose sums need a limit, it must be known at build
     * time.
     *
     * @param ofInt16 types allowed for int16 data
     */
    static void requireBias(
            OperatorContext operator, TfliteTensor data, Optional<TfliteTensor> bias, int channels, DType... ofInt16) {
        if (bias.isEmpty()) {
            return;
        }
        TfliteTensor tensor = bias.get();
        List<DType> expected = data.dtype() == DType.INT16
                ? Arrays.asList(ofInt16)
                : List.of(data.dtype().isFloat() ? DType.FLOAT32 : DType.INT32);
        operator.require(
                expected.contains(tensor.dtype()),
                "bias `" + tensor.name() + "` is " + tensor.dtype().text(),
                expected.stream().map(DType::text).collect(Collectors.joining(" or ")) + " with "
                        + data.dtype().text() + " data",
                "Convert the model again");
        operator.require(
                tensor.shape().elements() == channels,
                "bias `" + tensor.name() + "` has " + tensor.shape().elements() + " elements",
                channels + ", one per output channel");
        if (data.dtype() == DType.INT16) {
            operator.requireConstant("bias", tensor);
        }
    }

    /**
     * Type in which a layer sums. CONV_2D and FULLY_CONNECTED of int16 sum in the type of their bias, int32 without
     * one.
     */
    static DType sum(TfliteTensor data, Optional<TfliteTensor> bias) {
        if (data.dtype().isFloat()) {
            return DType.FLOAT32;
        }
        boolean wide = bias.isPresent() && bias.get().dtype() == DType.INT64;
        return wide ? DType.INT64 : DType.INT32;
    }

    /** Whether the data is float32 and the weights are quantized and remain quantized. */
    static boolean isHybrid(TfliteTensor data, TfliteTensor weights) {
        return data.dtype().isFloat() && !weights.dtype().isFloat();
    }

    /**
     * Layers with float data and int8 weights as TensorFlow Lite computes them: the data is quantized at run time, each row of a dense layer and each
     * image of a convolution by itself, and sums are integers (fully_connected.cc: EvalHybridDense, conv.cc and depthwise_conv.cc:
     * EvalHybrid, EvalHybridPerChannel, portable_tensor_utils.cc). Integers that a later step needs as floats are exact.
     */
    static final class HybridLayers {
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
            return bias.map(tensor -> operator.add(value, operator.value(tensor)))
                    .orElse(value);
        }
    }
}
