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
import io.kiln.frontend.tflite.schema.LayerOptions.TransposeConv;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TransposedWindow;
import io.kiln.ir.type.Shape;
import java.util.Optional;

/**
 * TRANSPOSE_CONV. The output tensor's own shape is used, not the operand that repeats it, as in the reference runtime.
 * A fused activation is applied to quantized outputs too.
 */
final class TransposedConvolutionImporter implements OperatorImporter {
    private static final int CHANNEL_AXIS = 3;

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor weights = operator.input(1);
        TfliteTensor data = operator.input(2);
        Optional<TfliteTensor> bias = operator.optionalInput(3);
        FlatTable options = operator.requiredOptions(TransposeConv.TYPE);
        Activation activation = Activation.read(operator, options.get(TransposeConv.FUSED_ACTIVATION_FUNCTION));
        LayerTypes.requireData(operator, data, operator.output());
        LayerTypes.requireWeights(operator, data, weights);
        operator.require(
                !LayerTypes.isHybrid(data, weights),
                "weights `" + weights.name() + "` are int8 but data is float32",
                "float32 weights",
                "Convert without quantization");
        for (TfliteTensor tensor : new TfliteTensor[] {data, weights}) {
            operator.require(
                    tensor.shape().rank() == 4, tensor.text() + " is not supported here", "a tensor of rank 4", "");
        }
        operator.check();
        int channels = weights.shape().dim(0);
        LayerTypes.requireBias(operator, data, bias, channels, DType.INT16, DType.INT64);
        LayerTypes.requireWeightScales(operator, weights, channels, 0);
        TransposedWindow window = window(operator, data, weights, options);
        operator.check();
        Arg sum = convolve(operator, data, weights, window);
        Arg value = Requantizing.addBias(operator, sum, bias.map(b -> widened(operator, data, b)), CHANNEL_AXIS);
        if (!data.dtype().isFloat()) {
            value = Requantizing.rescale(operator, value, CHANNEL_AXIS, data, weights);
        }
        operator.finish(activation.apply(operator, value));
    }

    private static Arg convolve(
            OperatorContext operator, TfliteTensor data, TfliteTensor weights, TransposedWindow window) {
        int channels = weights.shape().dim(0);
        if (data.dtype().isFloat()) {
            return operator.emit(new Conv2dTranspose(window, channels), operator.value(data), operator.value(weights));
        }
        DType sum = data.dtype() == DType.INT16 ? DType.INT64 : DType.INT32;
        return operator.emit(
                new QnnConv2dTranspose(window, channels, sum),
                operator.value(data),
                operator.value(weights),
                Requantizing.zeroPoint(data),
                Constant.scalar(weights.quantization().zeroPoint()),
                Requantizing.scale(data),
                Requantizing.scales(operator, weights.quantization()));
    }

    /** Biases of int16 are summed as int64. */
    private static TfliteTensor widened(OperatorContext operator, TfliteTensor data, TfliteTensor bias) {
        if (data.dtype() != DType.INT16 || bias.dtype() == DType.INT64) {
            return bias;
        }
        Constant values = operator.constant(bias);
        operator.spend(8L * values.elements());
        return bias.withValue(ConstantLayouts.widened(values));
    }

    private static TransposedWindow window(
            OperatorContext operator, TfliteTensor data, TfliteTensor weights, FlatTable options) {
        Shape in = data.shape();
        Shape kernel = weights.shape();
        Shape out = operator.outputShape(() -> statedShape(operator));
        boolean fits = operator.require(
                out.rank() == 4 && out.dim(0) == in.dim(0) && out.dim(3) == kernel.dim(0) && in.dim(3) == kernel.dim(3),
                "output " + out.text() + " does not fit data " + data.text() + " and weights " + weights.text(),
                "output (batch, height, width, " + kernel.dim(0) + ") and weights (" + kernel.dim(0)
                        + ", height, width, input channels)",
                "Export the model again");
        if (!fits) {
            operator.check();
        }
        PaddedWindows.Pair stride =
                new PaddedWindows.Pair(options.get(TransposeConv.STRIDE_H), options.get(TransposeConv.STRIDE_W));
        Window forward = PaddedWindows.of(
                operator,
                out,
                options.get(TransposeConv.PADDING),
                new PaddedWindows.Pair(kernel.dim(1), kernel.dim(2)),
                stride,
                new PaddedWindows.Pair(1, 1));
        int moreH = out.dim(1) + forward.padTop() - TransposedWindow.size(in.dim(1), stride.h(), kernel.dim(1));
        int moreW = out.dim(2) + forward.padLeft() - TransposedWindow.size(in.dim(2), stride.w(), kernel.dim(2));
        Window cropped = Window.of(kernel.dim(1), kernel.dim(2))
                .strided(stride.h(), stride.w())
                .padded(forward.padTop(), forward.padLeft(), Math.max(0, -moreH), Math.max(0, -moreW));
        return new TransposedWindow(cropped, Math.max(0, moreH), Math.max(0, moreW));
    }

    private static Shape statedShape(OperatorContext operator) {
        TfliteTensor shape = operator.input(0);
        if (!shape.isConstant() || shape.dtype() != DType.INT32 || shape.shape().elements() != 4) {
            throw operator.failure("its output's shape is not constant", "4 constant numbers of int32");
        }
        Constant dims = operator.constant(shape);
        int[] values = new int[4];
        for (int i = 0; i < values.length; i++) {
            values[i] = (int) dims.integer(i);
            if (values[i] < 1) {
                throw operator.failure("its output's dimension " + i + " is " + values[i], "dimensions of at least 1");
            }
        }
        return Shape.of(values);
    }
}
