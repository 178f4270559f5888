// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.Shape;
import java.util.stream.IntStream;

/** Draws layers that multiply by weights, with their epilogues: shapes, strides, paddings, dilations, channel counts, zero points. */
final class RandomFilters {
    private final FunctionDraw draw;

    /** Whether results are about as large as sums. */
    private boolean isLeft;

    RandomFilters(FunctionDraw draw) {
        this.draw = draw;
    }

    /** What receives the layer. */
    FunctionDraw draw() {
        return draw;
    }

    /** An int8 depthwise convolution, mostly with as many channels as its input has. */
    void depthwise() {
        Shape shape = Shape.of(1 + draw.below(8) / 7, 1 + draw.below(14), 1 + draw.below(30), 4 + draw.below(20));
        Window w = draw.below(3) == 0 ? window(shape.dim(1), shape.dim(2), false) : threeByThree(shape);
        depthwise(shape, w, shape.dim(3) % 5 == 2 ? 2 : 1);
    }

    /** An int8 depthwise convolution, often with a wide or dilated window or several channels for one of the input. */
    void wideDepthwise() {
        Shape shape = Shape.of(1, 1 + draw.below(6), 1 + draw.below(20), 2 + draw.below(8));
        depthwise(shape, largeWindow(shape.dim(1), shape.dim(2), 10), 1 + draw.below(5) / 2);
    }

    /** A depthwise convolution of one column without padding. */
    void overTime() {
        int taps = 1 + draw.below(12);
        int rows = 1 + draw.below(9);
        int stride = 1 + draw.below(8) / 7;
        Shape shape = Shape.of(1 + draw.below(8) / 7, (rows - 1) * stride + taps, 1, 4 + draw.below(14));
        depthwise(shape, Window.of(taps, 1).strided(stride, 1));
    }

    /** A layer of int8 data with so much padding that whole windows lie in it, or no window reaches the input's columns. */
    void farPadded() {
        Shape shape = Shape.of(1, 1 + draw.below(3), 1 + draw.below(3), 2 + draw.below(8));
        Window w = farPaddedWindow();
        if (draw.random.nextBoolean()) {
            depthwise(shape, w, 1 + draw.below(3) / 2);
        } else {
            convolution(shape, w, 1 + draw.below(9));
        }
    }

    /** The same of float data. */
    void farPaddedFloats() {
        boolean isDepthwise = draw.random.nextBoolean();
        int in = 4 + draw.below(9);
        Shape shape = Shape.of(1, 1 + draw.below(3), 1 + draw.below(3), in);
        ofFloats(shape, farPaddedWindow(), isDepthwise, isDepthwise ? in : 1 + draw.below(20));
    }

    private Window farPaddedWindow() {
        return Window.of(1 + draw.below(3), 1 + draw.below(3))
                .strided(1 + draw.below(8), 1 + draw.below(8))
                .padded(draw.below(9), draw.below(9), 2 + draw.below(4), 2 + draw.below(3));
    }

    /** A convolution of 1x1 whose weights no RAM to spare holds, of several pairs of pixels. */
    void largePointwise() {
        int in = 96 + draw.below(48);
        boolean isNarrow = draw.below(4) == 0;
        int height = isNarrow ? 8 + draw.below(24) : 2 + draw.below(5);
        int width = isNarrow ? 1 + draw.below(3) : 4 + draw.below(6) + draw.below(4) / 3 * draw.below(16);
        Shape shape = Shape.of(1 + draw.below(5) / 4, height, width, in);
        convolution(shape, Window.of(1, 1), (32 << 10) / in + 1 + draw.below(8));
    }

    /** The same behind a depthwise convolution, of so many rows that programs compute some at a time. */
    void largeSeparable() {
        int in = 96 + draw.below(48);
        Shape shape = Shape.of(1, 12 + draw.below(12), 3 + draw.below(8), in);
        Window w = Window.of(3, 3).padded(1, 1, 1, 1);
        Arg.Ref x = depthwise(draw.parameter(shape, DType.INT8), shape, w, 1);
        convolution(x, shape, Window.of(1, 1), (32 << 10) / in + 1 + draw.below(8));
    }

    /** A convolution of 3x3 whose weights no small cache holds, of more than one pair of pixels, or one of 1x1. */
    void manyWeights() {
        if (draw.below(4) == 0) {
            largePointwise();
            return;
        }
        int width = 4 * (1 + draw.below(6)) + draw.below(2) * draw.below(4);
        Shape shape = Shape.of(1, 3 + draw.below(4), width, 8 + 4 * draw.below(5));
        convolution(shape, threeByThree(shape), 4 * (2 + draw.below(5)) - draw.below(2) * draw.below(4));
    }

    /** A convolution of 3x3 that keeps the size of its input. */
    void square() {
        Shape shape = Shape.of(1 + draw.below(8) / 7, 1 + draw.below(6), 1 + draw.below(12), 4 * (1 + draw.below(4)));
        convolution(shape, Window.of(3, 3).padded(1, 1, 1, 1), 4 + draw.below(8));
    }

    private void depthwise(Shape shape, Window w) {
        depthwise(shape, w, 1);
    }

    private void depthwise(Shape shape, Window w, int multiplier) {
        depthwise(draw.parameter(shape, DType.INT8), shape, w, multiplier);
    }

    private Arg.Ref depthwise(Arg.Ref x, Shape shape, Window w, int multiplier) {
        int in = shape.dim(3);
        int channels = in * multiplier;
        Arg.Ref sum = draw.bind(
                new QnnConv2d(w, in, channels, "HWOI"),
                x,
                draw.weights(Shape.of(w.kernelH(), w.kernelW(), in, multiplier), true),
                Constant.scalar(draw.below(256) - 128),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        return epilogue(sum, channels, true, (long) w.kernelH() * w.kernelW());
    }

    /** A layer for which kernels need their ends: large or dilated windows, single rows, few channels, several for one, shifts to the left. */
    void large() {
        int kind = draw.below(4);
        isLeft = draw.below(3) == 0;
        if (kind == 3) {
            dense(true);
            return;
        }
        boolean isRow = draw.below(3) == 0;
        int in = (kind == 0 ? 2 : 1) + draw.below(7) * draw.below(4);
        Shape shape = Shape.of(1, isRow ? 1 : 1 + draw.below(9), 1 + draw.below(14), in);
        Window w = largeWindow(shape.dim(1), shape.dim(2), isRow ? 1 : 7);
        if (kind == 0) {
            depthwise(shape, w, 1 + draw.below(3));
        } else {
            convolution(shape, w, 1 + draw.below(5));
        }
    }

    /** As much padding on both sides as keeps the size, or none where that is possible. */
    private Window largeWindow(int height, int width, int mostRows) {
        int kernelH = 1 + draw.below(mostRows);
        int kernelW = 1 + draw.below(9);
        int dilationH = 1 + draw.below(3) / 2;
        int dilationW = 1 + draw.below(4) / 2;
        int spanH = (kernelH - 1) * dilationH + 1;
        int spanW = (kernelW - 1) * dilationW + 1;
        boolean padded = spanH > height || spanW > width || draw.random.nextBoolean();
        int rows = padded ? spanH - 1 : 0;
        int columns = padded ? spanW - 1 : 0;
        return Window.of(kernelH, kernelW)
                .strided(1 + draw.below(3), 1 + draw.below(3))
                .dilated(dilationH, dilationW)
                .padded(rows / 2, columns / 2, rows - rows / 2, columns - columns / 2);
    }

    /** A 1x1 convolution of int8 data. */
    void pointwise(int in) {
        convolution(Shape.of(1, 1 + draw.below(3), 2 + draw.below(5), in), Window.of(1, 1), 1 + draw.below(9));
    }

    private void convolution(Shape shape, Window w, int channels) {
        convolution(draw.parameter(shape, DType.INT8), shape, w, channels);
    }

    private void convolution(Arg.Ref x, Shape shape, Window w, int channels) {
        Arg.Ref sum = draw.bind(
                new QnnConv2d(w, 1, channels, "OHWI"),
                x,
                draw.weights(Shape.of(channels, w.kernelH(), w.kernelW(), shape.dim(3)), true),
                Constant.scalar(draw.below(256) - 128),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        epilogue(sum, channels, true, (long) w.kernelH() * w.kernelW() * shape.dim(3));
    }

    /** Padded as SAME is, or not at all where that is possible. */
    Window threeByThree(Shape shape) {
        boolean padded = shape.dim(1) < 3 || shape.dim(2) < 3 || draw.below(3) > 0;
        int before = padded ? draw.below(2) : 0;
        int after = padded ? 2 - before : 0;
        int stride = 1 + draw.below(2);
        return Window.of(3, 3).strided(stride, stride).padded(before, before, after, after);
    }

    void convolution(boolean quantized) {
        int kind = draw.below(3);
        int in = kind == 0 ? draw.channels() : 1 + draw.below(8);
        int groups = kind == 0 ? 1 : kind == 1 ? in : in % 2 == 0 ? 2 : 1;
        boolean depthwise = groups == in && groups > 1;
        int out = depthwise ? in * (1 + draw.below(3)) : groups * (1 + draw.below(9));
        Shape shape = Shape.of(1 + draw.below(8) / 7, 1 + draw.below(9), 1 + draw.below(9), in);
        Window w = window(shape.dim(1), shape.dim(2), true);
        Shape kernel = depthwise
                ? Shape.of(w.kernelH(), w.kernelW(), in, out / in)
                : Shape.of(out, w.kernelH(), w.kernelW(), in / groups);
        Arg.Ref x = draw.parameter(shape, quantized ? DType.INT8 : DType.FLOAT32);
        String layout = depthwise ? "HWOI" : "OHWI";
        int zeroPoint = draw.below(256) - 128;
        Arg.Ref sum = quantized
                ? draw.bind(
                        new QnnConv2d(w, groups, out, layout),
                        x,
                        draw.weights(kernel, true),
                        Constant.scalar(zeroPoint),
                        Constant.scalar(0),
                        Constant.scalar(0.05f),
                        Constant.scalar(0.01f))
                : draw.bind(new Conv2d(w, groups, out, layout), x, draw.weights(kernel, false));
        epilogue(sum, out, quantized, kernel.elements() / out);
    }

    /** A convolution or depthwise convolution of float data with limits of any kind. */
    void ofFloats() {
        boolean isDepthwise = draw.below(10) < 5;
        int in = 4 + draw.below(isDepthwise ? 17 : 9);
        int out = isDepthwise ? in : 1 + draw.below(20);
        Shape shape = Shape.of(1 + draw.below(8) / 7, 1 + draw.below(7), 1 + draw.below(14), in);
        ofFloats(shape, window(shape.dim(1), shape.dim(2), true), isDepthwise, out);
    }

    /** A 1x1 convolution of float data with 32 channels, so that neighbouring pixels of its output lie 128 bytes apart. */
    void ofManyFloats() {
        ofFloats(Shape.of(1, 2, 16, 4 + 4 * draw.below(4)), Window.of(1, 1), false, 32);
    }

    private void ofFloats(Shape shape, Window w, boolean isDepthwise, int out) {
        int in = shape.dim(3);
        Shape kernel =
                isDepthwise ? Shape.of(w.kernelH(), w.kernelW(), in, 1) : Shape.of(out, w.kernelH(), w.kernelW(), in);
        Op op = new Conv2d(w, isDepthwise ? in : 1, out, isDepthwise ? "HWOI" : "OHWI");
        Arg.Ref sum = draw.bind(op, draw.parameter(shape, DType.FLOAT32), draw.weights(kernel, false));
        Arg.Ref biased = draw.below(4) == 0 ? sum : draw.bind(new BiasAdd(-1), sum, Constant.vector(floats(out)));
        switch (draw.below(4)) {
            case 0 -> draw.bind(new Clip(0, 6), biased);
            case 1 -> draw.bind(new Clip(0, Float.MAX_VALUE), biased);
            case 2 -> draw.bind(new Clip(-1, 1), biased);
            default -> {}
        }
    }

    void dense(boolean quantized) {
        int in = 1 + draw.below(40);
        int units = draw.channels();
        Arg.Ref x = draw.parameter(Shape.of(1 + draw.below(3), in), quantized ? DType.INT8 : DType.FLOAT32);
        Constant weight = draw.weights(Shape.of(units, in), quantized);
        Arg.Ref sum = quantized
                ? draw.bind(
                        new QnnDense(units),
                        x,
                        weight,
                        Constant.scalar(draw.below(256) - 128),
                        Constant.scalar(0),
                        Constant.scalar(0.05f),
                        Constant.scalar(0.01f))
                : draw.bind(new Dense(units), x, weight);
        epilogue(sum, units, quantized, in);
    }

    private Arg.Ref epilogue(Arg.Ref sum, int channels, boolean quantized, long taps) {
        Arg.Ref current = sum;
        if (draw.below(4) > 0) {
            Constant bias = quantized
                    ? Constant.vector(draw.random.ints(channels, -9000, 9000).toArray())
                    : Constant.vector(floats(channels));
            current = draw.bind(new BiasAdd(-1), current, bias);
        }
        if (quantized) {
            current = requantize(current, draw.random.nextBoolean() ? channels : 1, taps);
        }
        return draw.clip(current, quantized);
    }

    private Arg.Ref requantize(Arg.Ref value, int channels, long taps) {
        int[] multipliers = new int[channels];
        int[] shifts = new int[channels];
        boolean extreme = draw.below(6) == 0;
        for (int i = 0; i < channels; i++) {
            double typical = 1.0 / (128 * Math.sqrt((double) taps)) * (0.2 + draw.random.nextDouble());
            double real = extreme ? Math.scalb(0.5 + draw.random.nextDouble(), draw.below(40) - 34) : typical;
            QuantizedMultiplier q = QuantizedMultiplier.of(isLeft ? 0.3 + 2 * draw.random.nextDouble() : real);
            multipliers[i] = q.multiplier();
            shifts[i] = q.shift();
        }
        Constant m = channels == 1 ? Constant.scalar(multipliers[0]) : Constant.vector(multipliers);
        Constant s = channels == 1 ? Constant.scalar(shifts[0]) : Constant.vector(shifts);
        return draw.bind(new TflRequantize(-1, 0, draw.below(256) - 128, DType.INT8), value, m, s);
    }

    private float[] floats(int count) {
        float[] values = new float[count];
        IntStream.range(0, count).forEach(i -> values[i] = draw.random.nextFloat() - 0.5f);
        return values;
    }

    Window window(int height, int width, boolean dilated) {
        int kernelH = 1 + draw.below(4);
        int kernelW = 1 + draw.below(4);
        int dilationH = dilated && draw.below(4) == 0 ? 2 : 1;
        int dilationW = dilated && draw.below(4) == 0 ? 2 : 1;
        int spanH = (kernelH - 1) * dilationH + 1;
        int spanW = (kernelW - 1) * dilationW + 1;
        boolean padded = draw.random.nextBoolean();
        int padH = padded ? draw.below(spanH) : 0;
        int padW = padded ? draw.below(spanW) : 0;
        int moreH = Math.max(0, spanH - height - padH);
        int moreW = Math.max(0, spanW - width - padW);
        int bottom = moreH + (padded ? draw.below(spanH) : 0);
        int right = moreW + (padded ? draw.below(spanW) : 0);
        return Window.of(kernelH, kernelW)
                .strided(1 + draw.below(3), 1 + draw.below(3))
                .dilated(dilationH, dilationW)
                .padded(padH, padW, bottom, right);
    }
}
