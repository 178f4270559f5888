// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Seeded models of one layer of int16 data, of float data with int8 weights, or of a transposed convolution. */
public final class RandomLayers {
    private final FunctionDraw draw;

    private RandomLayers(long seed) {
        this.draw = new FunctionDraw(seed);
    }

    /** A function named {@code layer<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        return new RandomLayers(seed).build("layer" + seed);
    }

    /** A convolution or a dense layer of int16 data. */
    public static Function ofInt16(long seed) {
        RandomLayers layers = new RandomLayers(seed);
        if (layers.below(3) > 0) {
            layers.convolution(DType.INT16);
        } else {
            layers.dense(DType.INT16);
        }
        return layers.draw.function("int16_" + seed);
    }

    /** A depthwise convolution of int16 data whose sums have 64 bits, mostly with as many channels as its input has. */
    public static Function wide(long seed) {
        RandomLayers layers = new RandomLayers(seed);
        layers.wide();
        return layers.draw.function("wide" + seed);
    }

    /** A transposed convolution of int16 data. */
    public static Function transposedWide(long seed) {
        RandomLayers layers = new RandomLayers(seed);
        layers.transposed(DType.INT16);
        return layers.draw.function("transposed" + seed);
    }

    /** A transposed convolution of int8 data, or every third time of float data. */
    public static Function transposed(long seed) {
        RandomLayers layers = new RandomLayers(seed);
        layers.transposed(seed % 3 == 0 ? DType.FLOAT32 : DType.INT8);
        return layers.draw.function("transposed" + seed);
    }

    /** A transposed convolution of a shape; always the same. */
    public static Function transposed(DType dtype, Shape shape, TransposedWindow window, int out) {
        RandomLayers layers = new RandomLayers(0);
        layers.ofShape(dtype, shape, window, out);
        return layers.draw.function("transposed");
    }

    private Function build(String name) {
        switch (below(6)) {
            case 0, 1 -> convolution(below(4) > 0 ? DType.INT16 : DType.FLOAT32);
            case 2 -> depthwise(below(4) > 0 ? DType.INT16 : DType.FLOAT32);
            case 3 -> dense(below(4) > 0 ? DType.INT16 : DType.FLOAT32);
            default ->
                transposed(List.of(DType.INT8, DType.INT16, DType.FLOAT32).get(below(3)));
        }
        return draw.function(name);
    }

    private int below(int bound) {
        return draw.below(bound);
    }

    private void convolution(DType dtype) {
        int groups = below(4) == 0 ? 2 : 1;
        boolean isDeep = groups == 1 && below(12) == 0;
        int in = isDeep ? 300 + below(300) : groups * (groups == 1 ? 1 + below(20) : 2 + below(4));
        int out = groups * (1 + below(isDeep ? 4 : 10));
        Shape shape = Shape.of(1 + below(8) / 7, 1 + below(isDeep ? 2 : 7), 1 + below(isDeep ? 2 : 12), in);
        Window w = window(shape);
        Constant weight = weights(Shape.of(out, w.kernelH(), w.kernelW(), in / groups), DType.INT8);
        DType sum = sum(dtype);
        Arg.Ref x = draw.parameter(shape, dtype);
        finish(
                draw.bind(new QnnConv2d(w, groups, out, "OHWI", sum), quantized(x, weight, dtype, out)),
                out,
                sum,
                dtype);
    }

    private void depthwise(DType dtype) {
        int in = 2 + below(9);
        int out = in * (1 + below(4) / 3);
        Shape shape = Shape.of(1, 1 + below(7), 1 + below(12), in);
        depthwise(shape, window(shape), out, dtype, sum(dtype));
    }

    private void wide() {
        int in = 2 + below(20);
        Shape shape = Shape.of(1 + below(8) / 7, 1 + below(7), 1 + below(15), in);
        depthwise(shape, window(shape, 7), in * (1 + below(6) / 5), DType.INT16, DType.INT64);
    }

    private void depthwise(Shape shape, Window w, int out, DType dtype, DType sum) {
        int in = shape.dim(3);
        Constant weight = weights(Shape.of(w.kernelH(), w.kernelW(), in, out / in), DType.INT8);
        Arg.Ref x = draw.parameter(shape, dtype);
        finish(draw.bind(new QnnConv2d(w, in, out, "HWOI", sum), quantized(x, weight, dtype, out)), out, sum, dtype);
    }

    private void dense(DType dtype) {
        int in = below(6) == 0 ? 900 + below(600) : 1 + below(70);
        int units = 1 + below(12);
        DType sum = sum(dtype);
        Arg.Ref x = draw.parameter(Shape.of(1 + below(3), in), dtype);
        Constant weight = weights(Shape.of(units, in), DType.INT8);
        finish(draw.bind(new QnnDense(units, sum), quantized(x, weight, dtype, units)), units, sum, dtype);
    }

    private void transposed(DType dtype) {
        int in = 1 + below(9);
        int out = 1 + below(9);
        Shape shape = Shape.of(1 + below(8) / 7, 1 + below(5), 1 + below(6), in);
        Window w = Window.of(1 + below(4), 1 + below(4))
                .strided(1 + below(3), 1 + below(3))
                .padded(below(2), below(2), below(2), below(2));
        int height = TransposedWindow.size(shape.dim(1), w.strideH(), w.kernelH()) - w.padTop() - w.padBottom();
        int width = TransposedWindow.size(shape.dim(2), w.strideW(), w.kernelW()) - w.padLeft() - w.padRight();
        TransposedWindow window = new TransposedWindow(w, Math.max(0, 1 - height), below(2) + Math.max(0, 1 - width));
        ofShape(dtype, shape, window, out);
    }

    private void ofShape(DType dtype, Shape shape, TransposedWindow window, int out) {
        int in = shape.dim(3);
        Window w = window.window();
        Shape kernel = Shape.of(out, w.kernelH(), w.kernelW(), in);
        Arg.Ref x = draw.parameter(shape, dtype);
        if (dtype.isFloat()) {
            Arg.Ref sum = draw.bind(new Conv2dTranspose(window, out), List.of(x, weights(kernel, DType.FLOAT32)));
            finish(sum, out, DType.FLOAT32, dtype);
            return;
        }
        DType sum = dtype == DType.INT16 ? DType.INT64 : DType.INT32;
        Op op = new QnnConv2dTranspose(window, out, sum);
        finish(draw.bind(op, quantized(x, weights(kernel, DType.INT8), dtype, out)), out, sum, dtype);
    }

    private DType sum(DType dtype) {
        return dtype.isFloat() ? DType.FLOAT32 : below(3) == 0 ? DType.INT32 : DType.INT64;
    }

    private Window window(Shape shape) {
        return window(shape, 4);
    }

    private Window window(Shape shape, int most) {
        int kernelH = 1 + below(most);
        int kernelW = 1 + below(most);
        int dilationH = below(5) == 0 ? 2 : 1;
        int dilationW = below(5) == 0 ? 2 : 1;
        int spanH = (kernelH - 1) * dilationH + 1;
        int spanW = (kernelW - 1) * dilationW + 1;
        int top = below(2) == 0 ? 0 : below(spanH);
        int left = below(2) == 0 ? 0 : below(spanW);
        int bottom = Math.max(0, spanH - shape.dim(1) - top) + below(2);
        int right = Math.max(0, spanW - shape.dim(2) - left) + below(2);
        return Window.of(kernelH, kernelW)
                .strided(1 + below(2), 1 + below(3))
                .dilated(dilationH, dilationW)
                .padded(top, left, bottom, right);
    }

    private Constant weights(Shape shape, DType dtype) {
        return draw.constant(new TensorType(shape, dtype));
    }

    private List<Arg> quantized(Arg.Ref x, Constant weight, DType dtype, int channels) {
        float[] scales = new float[below(2) == 0 ? 1 : channels];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = 0.001f + 0.01f * draw.random.nextFloat();
        }
        return List.of(
                x,
                weight,
                Constant.scalar(dtype == DType.INT8 ? below(256) - 128 : 0),
                Constant.scalar(below(4) == 0 ? below(20) : 0),
                Constant.scalar(0.5f),
                scales.length == 1 ? Constant.scalar(scales[0]) : Constant.vector(scales));
    }

    private void finish(Arg.Ref sum, int channels, DType sumType, DType dtype) {
        Arg.Ref current = sum;
        if (below(4) > 0) {
            current = draw.bind(new BiasAdd(-1), List.of(current, bias(channels, sumType, dtype)));
        }
        if (!dtype.isFloat()) {
            current = requantize(current, below(2) == 0 ? 1 : channels, dtype);
        }
        if (below(3) == 0) {
            draw.bind(new Clip(-5, 100), List.of(current));
        }
    }

    /** Sometimes too large for 32 bits. */
    private Constant bias(int channels, DType sumType, DType dtype) {
        TensorType type = new TensorType(Shape.of(channels), sumType);
        if (dtype.isFloat()) {
            return draw.constant(type);
        }
        ByteBuffer bytes = ByteBuffer.allocate((int) type.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        boolean large = below(3) == 0;
        for (int o = 0; o < channels; o++) {
            int value = large ? draw.random.nextInt() : below(20000) - 10000;
            if (sumType == DType.INT64) {
                bytes.putLong(large ? 1000L * value : value);
            } else {
                bytes.putInt(value);
            }
        }
        return new Constant("bias", type, Bytes.wrap(bytes.array()));
    }

    private Arg.Ref requantize(Arg.Ref value, int channels, DType dtype) {
        int[] multipliers = new int[channels];
        int[] shifts = new int[channels];
        for (int i = 0; i < channels; i++) {
            QuantizedMultiplier q = QuantizedMultiplier.of(Math.scalb(0.5 + draw.random.nextDouble(), -6 - below(8)));
            multipliers[i] = q.multiplier();
            shifts[i] = q.shift();
        }
        return draw.bind(
                new TflRequantize(-1, 0, dtype == DType.INT8 ? below(100) - 50 : 0, dtype),
                List.of(
                        value,
                        channels == 1 ? Constant.scalar(multipliers[0]) : Constant.vector(multipliers),
                        channels == 1 ? Constant.scalar(shifts[0]) : Constant.vector(shifts)));
    }
}
