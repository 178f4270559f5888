// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.Conv2D;
import io.kiln.frontend.tflite.schema.OperatorOptions.DepthwiseConv2D;
import io.kiln.frontend.tflite.schema.OperatorOptions.FullyConnected;
import io.kiln.frontend.tflite.schema.OperatorOptions.Pool2D;
import io.kiln.frontend.tflite.schema.OperatorOptions.TransposeConv;
import io.kiln.frontend.tflite.schema.SchemaEnums.Padding;
import io.kiln.frontend.tflite.write.Emission.NodeWriter;
import io.kiln.frontend.tflite.write.Emission.Options;
import io.kiln.frontend.tflite.write.TfliteFile.TensorEntry;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.PaddingScheme;
import io.kiln.quantize.plan.QuantizedConstants.LayerConstants;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes convolutions and fully connected layers. Padding that matches no TensorFlow Lite scheme becomes a PAD before the layer. */
final class LayerWriter implements NodeWriter {
    private static final int DEPTHWISE_DIMENSION = 3;

    @Override
    public boolean write(Emission node) {
        if (node.planned().node().layer().isEmpty()) {
            return false;
        }
        Emission layer = node.unclamped();
        boolean isWritten = true;
        if (node.op() instanceof Conv2d conv) {
            convolution(layer, conv);
        } else if (node.op() instanceof Dense) {
            dense(layer);
        } else {
            isWritten = node.op() instanceof Conv2dTranspose transpose && transposed(layer, transpose);
        }
        if (isWritten) {
            node.clampAfter(layer);
        }
        return isWritten;
    }

    private static void convolution(Emission node, Conv2d conv) {
        boolean depthwise = conv.kernelLayout().equals("HWOI");
        Shape shape = node.weights().type().shape();
        Optional<PaddingScheme> scheme = PaddingScheme.of(conv.window(), node.dataShape(0));
        int data = scheme.isPresent() ? node.data(0) : around(node, conv.window());
        Shape stored = depthwise ? Shape.of(1, shape.dim(0), shape.dim(1), shape.dim(2) * shape.dim(3)) : shape;
        List<Integer> inputs = new ArrayList<>(List.of(data));
        inputs.addAll(constants(node, stored, depthwise ? DEPTHWISE_DIMENSION : 0));
        Padding padding = Padding.valueOf(scheme.orElse(PaddingScheme.VALID).name());
        if (depthwise) {
            node.write(
                    BuiltinOperator.DEPTHWISE_CONV_2D,
                    node.version(2, 3, 5),
                    inputs,
                    strides(
                                    DepthwiseConv2D.STRIDE_H,
                                    DepthwiseConv2D.STRIDE_W,
                                    conv.window(),
                                    Options.of(DepthwiseConv2D.TYPE))
                            .with(DepthwiseConv2D.PADDING, padding.code())
                            .with(DepthwiseConv2D.DEPTH_MULTIPLIER, shape.dim(3))
                            .with(
                                    DepthwiseConv2D.DILATION_H_FACTOR,
                                    conv.window().dilationH())
                            .with(
                                    DepthwiseConv2D.DILATION_W_FACTOR,
                                    conv.window().dilationW())
                            .with(DepthwiseConv2D.FUSED_ACTIVATION_FUNCTION, node.fusedActivation()));
            return;
        }
        node.write(
                BuiltinOperator.CONV_2D,
                node.version(2, 3, 4),
                inputs,
                strides(Conv2D.STRIDE_H, Conv2D.STRIDE_W, conv.window(), Options.of(Conv2D.TYPE))
                        .with(Conv2D.PADDING, padding.code())
                        .with(Conv2D.DILATION_H_FACTOR, conv.window().dilationH())
                        .with(Conv2D.DILATION_W_FACTOR, conv.window().dilationW())
                        .with(Conv2D.FUSED_ACTIVATION_FUNCTION, node.fusedActivation()));
    }

    private static Options strides(Field.Int32 rows, Field.Int32 columns, Window window, Options options) {
        return options.with(rows, window.strideH()).with(columns, window.strideW());
    }

    /**
     * A fully connected layer of integers as a 1x1 convolution. For FULLY_CONNECTED, TensorFlow Lite's library rescales the sums in
     * another fixed point than TensorFlow Lite Micro; for CONV_2D, both compute the same.
     */
    private static void dense(Emission node) {
        if (!node.isFloat()) {
            point(node);
            return;
        }
        List<Integer> inputs = new ArrayList<>(List.of(node.data(0)));
        inputs.addAll(constants(node, node.weights().type().shape(), 0));
        node.write(
                BuiltinOperator.FULLY_CONNECTED,
                1,
                inputs,
                Options.of(FullyConnected.TYPE).with(FullyConnected.FUSED_ACTIVATION_FUNCTION, node.fusedActivation()));
    }

    private static void point(Emission node) {
        Shape rows = node.dataShape(0);
        Shape weights = node.weights().type().shape();
        int data = reshaped(node, node.data(0), "_rows", Shape.of(1, rows.dim(0), 1, rows.dim(1)));
        List<Integer> inputs = new ArrayList<>(List.of(data));
        inputs.addAll(constants(node, Shape.of(weights.dim(0), 1, 1, weights.dim(1)), 0));
        TensorType type = new TensorType(
                Shape.of(1, rows.dim(0), 1, weights.dim(0)), node.format().dtype());
        int sums = node.graph().tensor(node.name() + "_image", type, node.format());
        node.graph().dense(sums);
        node.graph()
                .operator(
                        BuiltinOperator.CONV_2D,
                        node.version(2, 3, 4),
                        inputs,
                        sums,
                        strides(Conv2D.STRIDE_H, Conv2D.STRIDE_W, Window.ONE, Options.of(Conv2D.TYPE))
                                .with(Conv2D.PADDING, Padding.VALID.code())
                                .with(Conv2D.DILATION_H_FACTOR, 1)
                                .with(Conv2D.DILATION_W_FACTOR, 1)
                                .with(Conv2D.FUSED_ACTIVATION_FUNCTION, node.fusedActivation()));
        reshape(node, sums, node.outputShape(), node.output());
    }

    private static int reshaped(Emission node, int data, String suffix, Shape shape) {
        Format format = node.graph().format(data);
        int tensor = node.graph().tensor(node.name() + suffix, new TensorType(shape, format.dtype()), format);
        reshape(node, data, shape, tensor);
        return tensor;
    }

    private static void reshape(Emission node, int data, Shape shape, int tensor) {
        List<Integer> inputs = List.of(data, node.graph().ints(node.name() + "/shape", shape.dims()));
        node.graph().operator(BuiltinOperator.RESHAPE, 1, inputs, tensor, Options.NONE);
    }

    private static boolean transposed(Emission node, Conv2dTranspose op) {
        boolean isPlain = op.window().outputPaddingH() == 0 && op.window().outputPaddingW() == 0;
        Optional<PaddingScheme> scheme = PaddingScheme.of(op.geometry(), node.outputShape());
        if (!isPlain || scheme.isEmpty()) {
            return false;
        }
        int shape = node.graph().ints(node.name() + "/shape", node.outputShape().dims());
        List<Integer> constants = constants(node, node.weights().type().shape(), 0);
        List<Integer> inputs = new ArrayList<>(List.of(shape, constants.get(0), node.data(0)));
        inputs.addAll(constants.subList(1, constants.size()));
        node.write(
                BuiltinOperator.TRANSPOSE_CONV,
                constants.size() > 1 ? 3 : node.version(1, 2, 2),
                inputs,
                strides(TransposeConv.STRIDE_H, TransposeConv.STRIDE_W, op.geometry(), Options.of(TransposeConv.TYPE))
                        .with(
                                TransposeConv.PADDING,
                                Padding.valueOf(scheme.get().name()).code())
                        .with(TransposeConv.FUSED_ACTIVATION_FUNCTION, node.fusedActivation()));
        return true;
    }

    /** Weights, then the bias if there is one. */
    private static List<Integer> constants(Emission node, Shape shape, int dimension) {
        GraphWriter graph = node.graph();
        if (node.isFloat()) {
            List<Integer> tensors = new ArrayList<>();
            tensors.add(graph.constant(reshaped(node.weights(), shape)));
            node.planned()
                    .node()
                    .bias()
                    .or(() -> node.op() instanceof Conv2d ? Optional.of(zeros(node)) : Optional.empty())
                    .ifPresent(bias -> tensors.add(graph.constant(bias)));
            return tensors;
        }
        LayerConstants constants = node.planned().constants().orElseThrow();
        float input = node.dataFormat().quantization().orElseThrow().scale();
        List<Float> scales =
                constants.scales().stream().map(scale -> input * scale).toList();
        List<Integer> tensors = new ArrayList<>();
        tensors.add(graph.constant(
                reshaped(constants.weights(), shape), new TensorEntry.Scaling(constants.scales(), 0, dimension)));
        Constant bias = constants.bias().orElseGet(() -> zeros(node));
        tensors.add(graph.constant(bias, new TensorEntry.Scaling(scales, 0, 0)));
        return tensors;
    }

    /** A bias of zeros: TensorFlow Lite's convolutions, and some of its other integer kernels, expect one. */
    private static Constant zeros(Emission node) {
        DType dtype = node.planned().precision().bias();
        int channels = node.outputShape().dim(-1);
        return new Constant(
                node.name() + "/bias",
                new TensorType(Shape.of(channels), dtype),
                Bytes.wrap(new byte[channels * dtype.bytes()]));
    }

    private static Constant reshaped(Constant constant, Shape shape) {
        return new Constant(
                constant.name(), new TensorType(shape, constant.type().dtype()), constant.data());
    }

    /**
     * Writes a pool. A maximum pool whose padding matches no TensorFlow Lite scheme gets a PADV2 before it; a mean pool with such padding is
     * not written.
     */
    static boolean pool(Emission node) {
        Window window = ((Pool2d) node.op()).window();
        boolean isMaximum = node.op() instanceof MaxPool2d;
        Optional<PaddingScheme> scheme = PaddingScheme.of(window, node.dataShape(0));
        boolean isDilated = window.dilationH() > 1 || window.dilationW() > 1;
        if (isDilated || (scheme.isEmpty() && !isMaximum)) {
            return false;
        }
        Emission pool = node.unclamped();
        int data = scheme.isPresent() ? node.data(0) : lowest(node, window);
        Padding padding = Padding.valueOf(scheme.orElse(PaddingScheme.VALID).name());
        pool.write(
                isMaximum ? BuiltinOperator.MAX_POOL_2D : BuiltinOperator.AVERAGE_POOL_2D,
                node.version(1, 2, 3),
                List.of(data),
                strides(Pool2D.STRIDE_H, Pool2D.STRIDE_W, window, Options.of(Pool2D.TYPE))
                        .with(Pool2D.PADDING, padding.code())
                        .with(Pool2D.FILTER_HEIGHT, window.kernelH())
                        .with(Pool2D.FILTER_WIDTH, window.kernelW())
                        .with(Pool2D.FUSED_ACTIVATION_FUNCTION, node.fusedActivation()));
        node.clampAfter(pool);
        return true;
    }

    /** The data with zeros around it for a window. */
    private static int around(Emission node, Window window) {
        int padded = padded(node, window);
        node.graph()
                .operator(
                        BuiltinOperator.PAD,
                        node.version(1, 2, 3),
                        List.of(node.data(0), widths(node, window)),
                        padded,
                        Options.NONE);
        return padded;
    }

    /** The data with the smallest value around it for a window. */
    private static int lowest(Emission node, Window window) {
        int padded = padded(node, window);
        Format format = node.dataFormat();
        DType dtype = format.dtype();
        String name = node.name() + "/lowest";
        Constant value = dtype.isFloat()
                ? Constant.reals(name, Shape.of(1), i -> -Float.MAX_VALUE)
                : Constant.integers(name, new TensorType(Shape.of(1), dtype), i -> dtype.min());
        int border = format.quantization()
                .map(q -> node.graph().constant(value, TensorEntry.Scaling.of(q)))
                .orElseGet(() -> node.graph().constant(value));
        node.graph()
                .operator(
                        BuiltinOperator.PADV2,
                        node.version(1, 2, 3),
                        List.of(node.data(0), widths(node, window), border),
                        padded,
                        Options.NONE);
        return padded;
    }

    private static int padded(Emission node, Window window) {
        Shape data = node.dataShape(0);
        Shape shape = Shape.of(
                data.dim(0),
                data.dim(1) + window.padTop() + window.padBottom(),
                data.dim(2) + window.padLeft() + window.padRight(),
                data.dim(3));
        Format format = node.dataFormat();
        return node.graph().tensor(node.name() + "_padded", new TensorType(shape, format.dtype()), format);
    }

    private static int widths(Emission node, Window w) {
        List<Integer> widths = List.of(0, 0, w.padTop(), w.padBottom(), w.padLeft(), w.padRight(), 0, 0);
        return node.graph().matrix(node.name() + "/paddings", Shape.of(4, 2), widths);
    }
}
