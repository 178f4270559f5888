// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.Shape;
import java.util.List;

/**
 * Draws int8 layers for which there is often no single high multiply.
 *
 * @param draw receives the layer
 * @param filters draws its windows
 */
record RandomHardLayers(FunctionDraw draw, RandomFilters filters) {
    /**
     * An int8 layer that is hard on purpose: so deep, or of scales so different, that no single high multiply is exact; with a prime number of
     * channels, one to four of them, odd pixels, one row, dilations or groups.
     */
    void next() {
        switch (draw.below(5)) {
            case 0 -> deep();
            case 1 -> thin();
            case 2 -> grouped();
            case 3 -> hardDense();
            default -> hardDepthwise();
        }
    }

    private void deep() {
        int in = List.of(29, 23, 61, 80).get(draw.below(4));
        int dilation = 1 + draw.below(4) / 3;
        Shape shape = Shape.of(1, 1 + draw.below(3), 2 * (1 + draw.below(5)), in);
        Window w = Window.of(3, 3).dilated(1, dilation).padded(1, dilation, 1, dilation);
        hardConvolution(shape, w, 1, 1 + draw.below(9));
    }

    private void thin() {
        Shape shape = Shape.of(1, 1 + draw.below(5), 5 + 2 * draw.below(6), 1 + draw.below(4));
        hardConvolution(shape, filters.window(shape.dim(1), shape.dim(2), true), 1, 1 + draw.below(7));
    }

    private void grouped() {
        int groups = 2 + draw.below(2);
        Shape shape = Shape.of(1, 1 + draw.below(4), 1 + draw.below(7), groups * (4 + draw.below(6)));
        hardConvolution(shape, filters.window(shape.dim(1), shape.dim(2), true), groups, groups * (1 + draw.below(6)));
    }

    private void hardConvolution(Shape shape, Window w, int groups, int channels) {
        Shape kernel = Shape.of(channels, w.kernelH(), w.kernelW(), shape.dim(3) / groups);
        hardEpilogue(
                draw.bind(new QnnConv2d(w, groups, channels, "OHWI"), quantized(shape, kernel)),
                channels,
                kernel.elements() / channels,
                4);
    }

    private void hardDense() {
        int in = 200 + draw.below(400);
        int units = 1 + draw.below(13);
        hardEpilogue(draw.bind(new QnnDense(units), quantized(Shape.of(1, in), Shape.of(units, in))), units, in, 4);
    }

    /** A dense layer of thousands of products, of one scale or of one for each channel, with or without the least weight of int8. */
    void dense() {
        dense(200 + draw.below(200), 26 + draw.below(13));
    }

    /** A dense layer with 50 KB of weights and more. */
    void largeDense() {
        dense(200 + draw.below(200), 260 + draw.below(13));
    }

    private void dense(int in, int units) {
        Arg[] arguments = quantized(Shape.of(1 + draw.below(2), in), Shape.of(units, in));
        if (draw.below(4) > 0) {
            Constant weights = (Constant) arguments[1];
            byte[] values = weights.data().toArray();
            for (int i = 0; i < values.length; i++) {
                values[i] = (byte) Math.max(-Byte.MAX_VALUE, values[i] / 2);
            }
            arguments[1] = new Constant(weights.name(), weights.type(), Bytes.wrap(values));
        }
        hardEpilogue(draw.bind(new QnnDense(units), arguments), units, in, draw.below(2) == 0 ? 0 : 4);
    }

    private void hardDepthwise() {
        int channels = 2 + draw.below(12);
        Shape shape = Shape.of(1, 1 + draw.below(6), 1 + draw.below(9), channels);
        hardDepthwise(shape, filters.threeByThree(shape));
    }

    /** A depthwise convolution of narrow rows or with a large window. */
    void depthwise() {
        Shape shape = Shape.of(1, 1 + draw.below(6), 1 + draw.below(12), 4 + draw.below(9));
        int size = 3 + 2 * draw.below(3);
        int around = size / 2;
        int stride = 1 + draw.below(5) / 4;
        hardDepthwise(
                shape,
                Window.of(size, size).padded(around, around, around, around).strided(stride, stride));
    }

    private void hardDepthwise(Shape shape, Window w) {
        int channels = shape.dim(3);
        Arg[] arguments = quantized(shape, Shape.of(w.kernelH(), w.kernelW(), channels, 1));
        long taps = (long) w.kernelH() * w.kernelW();
        hardEpilogue(draw.bind(new QnnConv2d(w, channels, channels, "HWOI"), arguments), channels, taps, 14);
    }

    /** Data, weights and their zero points and scales. */
    private Arg[] quantized(Shape shape, Shape kernel) {
        Arg.Ref x = draw.parameter(shape, DType.INT8);
        return new Arg[] {
            x,
            draw.weights(kernel, true),
            Constant.scalar(draw.below(256) - 128),
            Constant.scalar(0),
            Constant.scalar(0.05f),
            Constant.scalar(0.01f)
        };
    }

    /**
     * Bias, rescaling and limits.
     *
     * @param powers number of powers of two among the channels' scales; 0 for one scale
     */
    private void hardEpilogue(Arg.Ref sum, int channels, long taps, int powers) {
        Arg.Ref biased = draw.bind(
                new BiasAdd(-1),
                sum,
                Constant.vector(draw.random.ints(channels, -90_000, 90_000).toArray()));
        int[] multipliers = new int[channels];
        int[] shifts = new int[channels];
        double common = 0.2 + draw.random.nextDouble();
        for (int i = 0; i < channels; i++) {
            double factor = powers == 0 ? common : 0.2 + draw.random.nextDouble();
            double typical = 1.0 / (128 * Math.sqrt((double) taps)) * factor;
            QuantizedMultiplier q =
                    QuantizedMultiplier.of(powers == 0 ? typical : Math.scalb(typical, 2 - draw.below(powers)));
            multipliers[i] = q.multiplier();
            shifts[i] = q.shift();
        }
        // At the least element the lower limit hides how negative values are rounded.
        int zero = draw.below(2) == 0 ? Byte.MIN_VALUE : draw.below(256) - 128;
        TflRequantize op = new TflRequantize(-1, 0, zero, DType.INT8);
        draw.clip(draw.bind(op, biased, Constant.vector(multipliers), Constant.vector(shifts)), true);
    }
}
