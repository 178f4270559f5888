// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.layer;

import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.layer.LayerTypes.HybridLayers;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.PaddedWindows;
import io.kiln.frontend.tflite.operand.Requantizing;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions;
import io.kiln.frontend.tflite.schema.OperatorOptions.FullyConnected;
import io.kiln.frontend.tflite.schema.OperatorOptions.TransposeConv;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Layers with weights: convolutions, depthwise and transposed ones, and fully connected layers. */
public final class LayerImporters {
    /** Code of the schema's enum {@code FullyConnectedOptionsWeightsFormat}. */
    private static final int DEFAULT_FORMAT = 0;

    private static final int UNIT_AXIS = 1;
    private static final int LEAST_OF_FOUR_BITS = -8;
    private static final int MOST_OF_FOUR_BITS = 7;

    private static final int CHANNEL_AXIS = 3;

    public static final List<Registration> ALL = List.of(
            builtinOfBytes(BuiltinOperator.CONV_2D, 8, new ConvolutionImporter(false)),
            builtinOfBytes(BuiltinOperator.DEPTHWISE_CONV_2D, 7, new ConvolutionImporter(true)),
            builtinOfBytes(BuiltinOperator.FULLY_CONNECTED, 12, LayerImporters::fullyConnected),
            builtinOfBytes(BuiltinOperator.TRANSPOSE_CONV, 5, LayerImporters::transposed));

    private LayerImporters() {}

    /**
     * CONV_2D (groups by the kernel's depth) and DEPTHWISE_CONV_2D. For either operator in the file, one group per input
     * channel becomes a depthwise convolution of the IR, and one input channel an ordinary one.
     */
    private record ConvolutionImporter(boolean depthwise) implements OperatorImporter {
        /** Weights in the IR's layout. */
        private record Kernel(Arg weights, String layout, int groups, int channels) {}

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            TfliteTensor weights = operator.input(1);
            Optional<TfliteTensor> bias = operator.optionalInput(2);
            FlatTable options = operator.requiredOptions(
                    depthwise ? OperatorOptions.DepthwiseConv2D.TYPE : OperatorOptions.Conv2D.TYPE);
            Activation activation = Activation.read(
                    operator,
                    options.get(
                            depthwise
                                    ? OperatorOptions.DepthwiseConv2D.FUSED_ACTIVATION_FUNCTION
                                    : OperatorOptions.Conv2D.FUSED_ACTIVATION_FUNCTION));
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
            QnnConv2d op = new QnnConv2d(window, kernel.groups, kernel.channels, kernel.layout, sumType);
            return Requantizing.sums(operator, op, data, operator.value(data), weights, kernel.weights);
        }

        /** The reference kernel of DEPTHWISE_CONV_2D supports int16 only with int64 sums. */
        private void requireBias(
                OperatorContext operator, TfliteTensor data, Optional<TfliteTensor> bias, int channels) {
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
                        ? new Kernel(
                                transposed(operator, value, h * w, channels, channels, h, w, 1), "OHWI", 1, channels)
                        : new Kernel(
                                reshaped(operator, value, h, w, inputs, channels / inputs), "HWOI", inputs, channels);
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
                    ? new Constant(
                            constant.name(),
                            new TensorType(Shape.of(dims), constant.type().dtype()),
                            constant.data())
                    : operator.emit(new Reshape(Shape.of(dims)), value);
        }

        /** Transposes a matrix (rows, columns) to (columns, rows), under the given shape. */
        private static Arg transposed(OperatorContext operator, Arg value, int rows, int columns, int... dims) {
            if (!(value instanceof Constant constant)) {
                Arg matrix = reshaped(operator, value, rows, columns);
                return reshaped(operator, operator.emit(new Transpose(List.of(1, 0)), matrix), dims);
            }
            int width = constant.type().dtype().bytes();
            byte[] from = constant.data().toArray();
            byte[] to = new byte[from.length];
            for (int row = 0; row < rows; row++) {
                for (int column = 0; column < columns; column++) {
                    System.arraycopy(from, (row * columns + column) * width, to, (column * rows + row) * width, width);
                }
            }
            TensorType type = new TensorType(Shape.of(dims), constant.type().dtype());
            return new Constant(constant.name(), type, Bytes.wrap(to));
        }

        private Window window(OperatorContext operator, Shape data, Shape weights, FlatTable options) {
            PaddedWindows.Pair stride = depthwise
                    ? new PaddedWindows.Pair(
                            options.get(OperatorOptions.DepthwiseConv2D.STRIDE_H),
                            options.get(OperatorOptions.DepthwiseConv2D.STRIDE_W))
                    : new PaddedWindows.Pair(
                            options.get(OperatorOptions.Conv2D.STRIDE_H), options.get(OperatorOptions.Conv2D.STRIDE_W));
            PaddedWindows.Pair dilation = depthwise
                    ? new PaddedWindows.Pair(
                            options.get(OperatorOptions.DepthwiseConv2D.DILATION_H_FACTOR),
                            options.get(OperatorOptions.DepthwiseConv2D.DILATION_W_FACTOR))
                    : new PaddedWindows.Pair(
                            options.get(OperatorOptions.Conv2D.DILATION_H_FACTOR),
                            options.get(OperatorOptions.Conv2D.DILATION_W_FACTOR));
            return PaddedWindows.of(
                    operator,
                    data,
                    options.get(depthwise ? OperatorOptions.DepthwiseConv2D.PADDING : OperatorOptions.Conv2D.PADDING),
                    new PaddedWindows.Pair(weights.dim(1), weights.dim(2)),
                    stride,
                    dilation);
        }

        private void requireChannels(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
            int inputs = data.shape().dim(3);
            boolean fits = depthwise
                    ? weights.shape().dim(0) == 1 && weights.shape().dim(3) % inputs == 0
                    : inputs % weights.shape().dim(3) == 0
                            && weights.shape().dim(0)
                                            % (inputs / weights.shape().dim(3))
                                    == 0;
            operator.require(
                    fits,
                    "weights " + weights.text() + " do not fit " + inputs + " input channels",
                    depthwise
                            ? "shape (1, height, width, a multiple of the input channels)"
                            : "shape (output channels, height, width, input channels divided by the groups)");
        }

        private static void requireRank4(OperatorContext operator, TfliteTensor tensor) {
            operator.require(
                    tensor.shape().rank() == 4, tensor.text() + " is not supported here", "a tensor of rank 4", "");
        }
    }

    /**
     * TRANSPOSE_CONV. The output tensor's own shape is used, not the operand that repeats it, as in the reference runtime.
     * A fused activation is applied to quantized outputs too.
     */
    private static void transposed(OperatorContext operator) {
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
        QnnConv2dTranspose op = new QnnConv2dTranspose(window, channels, sum);
        return Requantizing.sums(operator, op, data, operator.value(data), weights, operator.value(weights));
    }

    /** Biases of int16 are summed as int64. */
    private static TfliteTensor widened(OperatorContext operator, TfliteTensor data, TfliteTensor bias) {
        if (data.dtype() != DType.INT16 || bias.dtype() == DType.INT64) {
            return bias;
        }
        Constant values = operator.constant(bias);
        operator.spend(8L * values.elements());
        TensorType type = new TensorType(values.type().shape(), DType.INT64);
        return bias.withValue(Constant.integers(values.name(), type, values::integer));
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
                        + ", height, width, input channels)");
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

    /** FULLY_CONNECTED: data of any rank is treated as rows of the weights' row length. */
    private static void fullyConnected(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor weights = operator.input(1);
        Optional<TfliteTensor> bias = operator.optionalInput(2);
        Optional<FlatTable> options = operator.options(FullyConnected.TYPE);
        Activation activation = Activation.read(
                operator,
                options.map(o -> o.get(FullyConnected.FUSED_ACTIVATION_FUNCTION))
                        .orElse(0));
        operator.require(
                options.map(o -> o.get(FullyConnected.WEIGHTS_FORMAT)).orElse(0) == DEFAULT_FORMAT,
                "shuffled weights are not supported",
                "weights_format DEFAULT",
                "Convert the model again");
        LayerTypes.requireData(operator, data, operator.output());
        LayerTypes.requireWeights(operator, data, weights);
        operator.requireThat(
                weights.shape().rank() == 2, "weights are " + weights.text(), "weights of rank 2 (units, inputs)", "");
        int units = weights.shape().dim(0);
        LayerTypes.requireBias(operator, data, bias, units, DType.INT32, DType.INT64);
        requireShapes(operator, data, weights);
        requireWeightScales(operator, weights, units);
        operator.check();
        operator.finish(emitRows(operator, data, weights, bias, activation));
    }

    private static Arg emitRows(
            OperatorContext operator,
            TfliteTensor data,
            TfliteTensor weights,
            Optional<TfliteTensor> bias,
            Activation activation) {
        int units = weights.shape().dim(0);
        int depth = weights.shape().dim(1);
        Shape rows = Shape.of((int) (data.shape().elements() / depth), depth);
        Arg flat = data.shape().equals(rows)
                ? operator.value(data)
                : operator.emit(new Reshape(rows), operator.value(data));
        if (operator.followsLite() && LayerTypes.isHybrid(data, weights)) {
            Arg value = hybrid(operator, flat, weights, bias);
            return reshaped(
                    operator,
                    activation.apply(operator, value),
                    Shape.of(rows.dim(0), units),
                    outputShape(operator, data, units));
        }
        Arg sum = weights.dtype().isFloat()
                ? operator.emit(new Dense(units), flat, operator.value(weights))
                : ofFourBits(operator, flat, data, weights)
                        .orElseGet(() -> multiply(operator, flat, data, weights, LayerTypes.sum(data, bias)));
        Arg value = Requantizing.addBias(operator, sum, bias, UNIT_AXIS);
        if (!data.dtype().isFloat()) {
            value = operator.followsLite()
                    ? Requantizing.rescaleInDouble(operator, value, data, weights)
                    : Requantizing.rescaleInSingle(operator, value, UNIT_AXIS, data, weights);
        }
        Arg limited = activation.apply(operator, value);
        return reshaped(operator, limited, Shape.of(rows.dim(0), units), outputShape(operator, data, units));
    }

    private static Arg reshaped(OperatorContext operator, Arg value, Shape shape, Shape output) {
        return output.equals(shape) ? value : operator.emit(new Reshape(output), value);
    }

    /** Float data that is quantized at run time, each row by itself. */
    private static Arg hybrid(OperatorContext operator, Arg flat, TfliteTensor weights, Optional<TfliteTensor> bias) {
        boolean isAsymmetric = operator.options(FullyConnected.TYPE)
                .map(o -> o.get(FullyConnected.ASYMMETRIC_QUANTIZE_INPUTS))
                .orElse(false);
        HybridLayers.Quantized data = HybridLayers.quantize(operator, flat, List.of(1), isAsymmetric);
        QnnDense op = new QnnDense(weights.shape().dim(0), DType.INT32);
        Arg sums = HybridLayers.sums(operator, data, operator.value(weights), op);
        Arg scaled = HybridLayers.scaledAtOnce(operator, sums, data, weights.quantization());
        return HybridLayers.plus(operator, scaled, bias);
    }

    /** Float data times weights from -8 to 7, which stay integers of four bits; empty for others. */
    private static Optional<Arg> ofFourBits(
            OperatorContext operator, Arg flat, TfliteTensor data, TfliteTensor weights) {
        boolean isHybrid = LayerTypes.isHybrid(data, weights)
                && weights.quantization().isSymmetric()
                && operator.value(weights) instanceof Constant known
                && IntStream.range(0, known.elements())
                        .allMatch(i -> known.integer(i) >= LEAST_OF_FOUR_BITS && known.integer(i) <= MOST_OF_FOUR_BITS);
        if (!isHybrid) {
            return Optional.empty();
        }
        int units = weights.shape().dim(0);
        Shape parameters = Shape.of(units, 1);
        return Optional.of(operator.emit(
                new BlockDense(units, weights.shape().dim(1)),
                flat,
                operator.value(weights),
                Constant.reals("", parameters, weights.quantization()::scale),
                Constant.reals("", parameters, unit -> 0)));
    }

    private static Arg multiply(
            OperatorContext operator, Arg flat, TfliteTensor data, TfliteTensor weights, DType sumType) {
        QnnDense op = new QnnDense(weights.shape().dim(0), sumType);
        return Requantizing.sums(operator, op, data, flat, weights, operator.value(weights));
    }

    private static void requireShapes(OperatorContext operator, TfliteTensor data, TfliteTensor weights) {
        int units = weights.shape().dim(0);
        int depth = weights.shape().dim(1);
        long elements = data.shape().elements();
        boolean fits = operator.require(
                elements % depth == 0,
                "data " + data.text() + " does not divide into rows of " + depth,
                "data that fits the weights " + weights.text());
        Shape output = outputShape(operator, data, units);
        operator.require(
                !fits
                        || (output.rank() > 0
                                && output.dim(-1) == units
                                && output.elements() == elements / depth * units),
                "output " + operator.output().withShape(output).text() + " does not fit",
                (fits ? elements / depth : "some") + " rows of " + units + " units");
    }

    /** With {@code keep_num_dims} only the last dimension changes; otherwise the leading dimensions are joined. */
    private static Shape outputShape(OperatorContext operator, TfliteTensor data, int units) {
        return operator.outputShape(() -> {
            boolean keeps = operator.options(FullyConnected.TYPE)
                    .map(o -> o.get(FullyConnected.KEEP_NUM_DIMS))
                    .orElse(false);
            int depth = operator.input(1).shape().dim(1);
            List<Integer> dims = new ArrayList<>(data.shape().dims());
            if (!keeps || dims.isEmpty()) {
                return Shape.of((int) Math.max(1, data.shape().elements() / depth), units);
            }
            dims.set(dims.size() - 1, units);
            return new Shape(dims);
        });
    }

    private static void requireWeightScales(OperatorContext operator, TfliteTensor weights, int units) {
        if (weights.dtype() != DType.INT8) {
            return;
        }
        TensorQuantization quantization = weights.quantization();
        operator.require(
                quantization.isPerTensor()
                        || (quantization.scaleCount() == units
                                && quantization.dimension() == 0
                                && quantization.isSymmetric()),
                "weights `" + weights.name() + "` have " + quantization.scaleCount() + " scales in dimension "
                        + quantization.dimension(),
                "one scale, or " + units + " in dimension 0 with zero points 0",
                "Quantize the model again");
    }
}
