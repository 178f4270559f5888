// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.ConstantLayouts;
import io.kiln.frontend.tflite.operand.PaddedWindows;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.LayerOptions;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;

/**
 * CONV_2D (groups by the kernel's depth) and DEPTHWISE_CONV_2D. For either operator in the file, one group per input
 * channel becomes a depthwise convolution of the IR, and one input channel an ordinary one.
 */
final class ConvolutionImporter implements OperatorImporter {
    private static final int CHANNEL_AXIS = 3;

    private final boolean depthwise;

    ConvolutionImporter(boolean depthwise) {
        this.depthwise = depthwise;
    }

    /** Weights in the IR's layout. */
    private record Kernel(Arg weights, String layout, int groups, int channels) {}

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor weights = operator.input(1);
        Optional<TfliteTensor> bias = operator.optionalInput(2);
        FlatTable options =
                operator.requiredOptions(depthwise ? LayerOptions.DepthwiseConv2D.TYPE : LayerOptions.Conv2D.TYPE);
        Activation activation = Activation.read(
                operator,
                options.get(
                        depthwise
                                ? LayerOptions.DepthwiseConv2D.FUSED_ACTIVATION_FUNCTION
                                : LayerOptions.Conv2D.FUSED_ACTIVATION_FUNCTION));
        LayerTypes.requireData(operator, data, operator.output());
        LayerTypes.requireWeights(operator, data, weights);
        requireRank4(operator, data);
        requireRank4(operator, weights);
        operator.check();
        int channels = weights.shape().dim(depthwise ? 3 : 0);
        requireChannels(operator, data, weights);
        LayerTypes.requireWeightScales(operator, weights, channels, depthwise ? 3 : 0);
        requireBias(operator, data, bias, channels);
        Window window = window(operator, data.shape(), weights.shape(), options);
        operator.check();
        if (operator.followsLite() && LayerTypes.isHybrid(data, weights)) {
            operator.finish(activation.apply(operator, hybrid(operator, data, weights, bias, window)));
            return;
        }
        DType sumType = depthwise && data.dtype() == DType.INT16 ? DType.INT64 : LayerTypes.sum(data, bias);
        Arg sum = convolve(operator, data, kernel(operator, data, weights), weights, window, sumType);
        Arg value = Requantizing.addBias(operator, sum, bias, CHANNEL_AXIS);
        if (!data.dtype().isFloat()) {
            value = Requantizing.rescale(operator, value, CHANNEL_AXIS, data, weights);
        }
        operator.finish(activation.apply(operator, value));
    }

    /**
     * Float data that is quantized at run time, each image by itself: symmetrically by CONV_2D if the weights have one scale, or
     * the same for each channel.
     */
    private Arg hybrid(
            OperatorContext operator,
            TfliteTensor data,
            TfliteTensor weights,
            Optional<TfliteTensor> bias,
            Window window) {
        boolean isPerChannel = depthwise || !weights.quantization().hasEqualScales();
        Kernel kernel = kernel(operator, data, weights);
        HybridLayers.Quantized quantized =
                HybridLayers.quantize(operator, operator.value(data), List.of(1, 2, 3), isPerChannel);
        QnnConv2d op = new QnnConv2d(window, kernel.groups, kernel.channels, kernel.layout, DType.INT32);
        Arg sums = HybridLayers.sums(operator, quantized, kernel.weights, op);
        Arg scaled = isPerChannel
                ? HybridLayers.scaledInTurn(operator, sums, quantized, weights.quantization())
                : HybridLayers.scaledAtOnce(operator, sums, quantized, weights.quantization());
        return HybridLayers.plus(operator, scaled, bias);
    }

    private static Arg convolve(
            OperatorContext operator,
            TfliteTensor data,
            Kernel kernel,
            TfliteTensor weights,
            Window window,
            DType sumType) {
        if (weights.dtype().isFloat()) {
            Conv2d op = new Conv2d(window, kernel.groups, kernel.channels, kernel.layout);
            return operator.emit(op, operator.value(data), kernel.weights);
        }
        return operator.emit(
                new QnnConv2d(window, kernel.groups, kernel.channels, kernel.layout, sumType),
                operator.value(data),
                kernel.weights,
                Requantizing.zeroPoint(data),
                Constant.scalar(weights.quantization().zeroPoint()),
                Requantizing.scale(data),
                Requantizing.scales(operator, weights.quantization()));
    }

    /** The reference kernel of DEPTHWISE_CONV_2D supports int16 only with int64 sums. */
    private void requireBias(OperatorContext operator, TfliteTensor data, Optional<TfliteTensor> bias, int channels) {
        if (depthwise) {
            LayerTypes.requireBias(operator, data, bias, channels, DType.INT64);
        } else {
            LayerTypes.requireBias(operator, data, bias, channels, DType.INT32, DType.INT64);
        }
    }

    private Kernel kernel(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
        Shape shape = weights.shape();
        Arg value = operator.value(weights);
        int inputs = data.shape().dim(3);
        int h = shape.dim(1);
        int w = shape.dim(2);
        operator.spend(weights.type().bytes());
        if (depthwise) {
            int channels = shape.dim(3);
            return inputs == 1
                    ? new Kernel(transposed(operator, value, h * w, channels, channels, h, w, 1), "OHWI", 1, channels)
                    : new Kernel(reshaped(operator, value, h, w, inputs, channels / inputs), "HWOI", inputs, channels);
        }
        int channels = shape.dim(0);
        int groups = inputs / shape.dim(3);
        return groups == inputs && groups > 1
                ? new Kernel(
                        transposed(operator, value, channels, h * w, h, w, inputs, channels / inputs),
                        "HWOI",
                        groups,
                        channels)
                : new Kernel(value, "OHWI", groups, channels);
    }

    private static Arg reshaped(OperatorContext operator, Arg value, int... dims) {
        return value instanceof Constant constant
                ? ConstantLayouts.reshaped(constant, dims)
                : operator.emit(new Reshape(Shape.of(dims)), value);
    }

    /** Transposes a matrix (rows, columns) to (columns, rows), under the given shape. */
    private static Arg transposed(OperatorContext operator, Arg value, int rows, int columns, int... dims) {
        return value instanceof Constant constant
                ? ConstantLayouts.transposed(constant, rows, columns, dims)
                : reshaped(
                        operator,
                        operator.emit(new Transpose(List.of(1, 0)), reshaped(operator, value, rows, columns)),
                        dims);
    }

    private Window window(OperatorContext operator, Shape data, Shape weights, FlatTable options) {
        PaddedWindows.Pair stride = depthwise
                ? new PaddedWindows.Pair(
                        options.get(LayerOptions.DepthwiseConv2D.STRIDE_H),
                        options.get(LayerOptions.DepthwiseConv2D.STRIDE_W))
                : new PaddedWindows.Pair(
                        options.get(LayerOptions.Conv2D.STRIDE_H), options.get(LayerOptions.Conv2D.STRIDE_W));
        PaddedWindows.Pair dilation = depthwise
                ? new PaddedWindows.Pair(
                        options.get(LayerOptions.DepthwiseConv2D.DILATION_H_FACTOR),
                        options.get(LayerOptions.DepthwiseConv2D.DILATION_W_FACTOR))
                : new PaddedWindows.Pair(
                        options.get(LayerOptions.Conv2D.DILATION_H_FACTOR),
                        options.get(LayerOptions.Conv2D.DILATION_W_FACTOR));
        return PaddedWindows.of(
                operator,
                data,
                options.get(depthwise ? LayerOptions.DepthwiseConv2D.PADDING : LayerOptions.Conv2D.PADDING),
                new PaddedWindows.Pair(weights.dim(1), weights.dim(2)),
                stride,
                dilation);
    }

    private void requireChannels(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
        int inputs = data.shape().dim(3);
        boolean fits = depthwise
                ? weights.shape().dim(0) == 1 && weights.shape().dim(3) % inputs == 0
                : inputs % weights.shape().dim(3) == 0
                        && weights.shape().dim(0) % (inputs / weights.shape().dim(3)) == 0;
        operator.require(
                fits,
                "weights " + weights.text() + " do not fit " + inputs + " input channels",
                depthwise
                        ? "shape (1, height, width, a multiple of the input channels)"
                        : "shape (output channels, height, width, input channels divided by the groups)",
                "Export the model again");
    }

    private static void requireRank4(OperatorContext operator, TfliteTensor tensor) {
        operator.require(
                tensor.shape().rank() == 4, tensor.text() + " is not supported here", "a tensor of rank 4", "");
    }
}
