// SPDX-License-Identifier: Apache-2.0
package io.kiln.draw;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * Seeded small int8 networks: convolutions, depthwise convolutions, pools and residual sums with strides and paddings, then
 * mostly a pool over the whole map and a fully connected layer.
 */
public final class RandomResiduals {
    private final FunctionDraw draw;
    private final List<Arg.Ref> results = new ArrayList<>();

    private RandomResiduals(long seed) {
        this.draw = new FunctionDraw(seed);
    }

    /** A function named {@code residual<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        return new RandomResiduals(seed).build("residual" + seed);
    }

    private Function build(String name) {
        Arg.Ref input = draw.parameter(Shape.of(1, 3 + below(14), 1 + below(6), 1 + below(5)), DType.INT8);
        Arg.Ref current = input;
        int layers = 2 + below(7);
        for (int i = 0; i < layers; i++) {
            current = below(4) == 0 ? block(current) : layer(current);
            if (below(12) == 0 && !current.equals(input)) {
                results.add(current);
            }
        }
        if (below(4) > 0) {
            current = head(current);
        }
        results.add(current);
        return draw.function(name, results);
    }

    private int below(int bound) {
        return draw.below(bound);
    }

    private Shape shape(Arg.Ref value) {
        return draw.type(value).shape();
    }

    private Arg.Ref bind(Op op, Arg... args) {
        return draw.bind(op, args);
    }

    private Arg.Ref layer(Arg.Ref input) {
        return switch (below(6)) {
            case 0 -> pool(input);
            case 1, 2 -> convolution(input, window(input, true), true);
            default -> convolution(input, window(input, true), false);
        };
    }

    /** Two ways from one value that meet in a sum: it itself or a 1x1 convolution of it, and one or two layers. */
    private Arg.Ref block(Arg.Ref input) {
        Arg.Ref inner = convolution(input, same(), below(2) == 0);
        if (below(2) == 0) {
            inner = convolution(inner, same(), false);
        }
        boolean straight = shape(input).equals(shape(inner)) && below(3) > 0;
        Window one = Window.of(1, 1);
        Arg.Ref other = straight ? input : convolution(input, one, shape(inner).dim(3));
        Arg.Ref a = below(2) == 0 ? inner : other;
        Arg.Ref b = a.equals(inner) ? other : inner;
        return bind(
                new QnnAdd(), a, b, scale(), draw.zeroPoint(), scale(), draw.zeroPoint(), scale(), draw.zeroPoint());
    }

    private static Window same() {
        return Window.of(3, 3).padded(1, 1, 1, 1);
    }

    private Window window(Arg.Ref input, boolean strided) {
        int height = shape(input).dim(1);
        int width = shape(input).dim(2);
        int kernelH = 1 + below(Math.min(5, height));
        int kernelW = 1 + below(Math.min(3, width));
        int top = below((kernelH + 1) / 2);
        int left = below((kernelW + 1) / 2);
        int bottom = below((kernelH + 1) / 2);
        int strideH = strided && below(3) == 0 ? 2 : 1;
        int strideW = strided && below(3) == 0 ? 2 : 1;
        return Window.of(kernelH, kernelW).strided(strideH, strideW).padded(top, left, bottom, left);
    }

    private Arg.Ref pool(Arg.Ref input) {
        Window window = window(input, true);
        return bind(below(2) == 0 ? new AvgPool2d(window) : new MaxPool2d(window), input);
    }

    private Arg.Ref convolution(Arg.Ref input, Window w, boolean depthwise) {
        int in = shape(input).dim(3);
        return depthwise && in > 1 ? convolution(input, w, in, in) : convolution(input, w, 1 + below(8));
    }

    private Arg.Ref convolution(Arg.Ref input, Window w, int channels) {
        return convolution(input, w, channels, 1);
    }

    private Arg.Ref convolution(Arg.Ref input, Window w, int channels, int groups) {
        int in = shape(input).dim(3);
        Shape kernel = groups > 1
                ? Shape.of(w.kernelH(), w.kernelW(), in, 1)
                : Shape.of(channels, w.kernelH(), w.kernelW(), in);
        Arg.Ref sum = bind(
                new QnnConv2d(w, groups, channels, groups > 1 ? "HWOI" : "OHWI"),
                input,
                draw.weights(kernel, true),
                draw.zeroPoint(),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        return rescale(sum, channels, kernel.elements() / channels);
    }

    private Arg.Ref head(Arg.Ref input) {
        Shape map = shape(input);
        Window all = Window.of(map.dim(1), map.dim(2));
        Arg.Ref pooled = below(4) == 0 ? input : bind(below(4) == 0 ? new MaxPool2d(all) : new AvgPool2d(all), input);
        int size = (int) shape(pooled).elements();
        Arg.Ref flat = bind(new Reshape(Shape.of(1, size)), pooled);
        int units = 2 + below(4);
        Arg.Ref sum = bind(
                new QnnDense(units),
                flat,
                draw.weights(Shape.of(units, size), true),
                draw.zeroPoint(),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        Arg.Ref dense = rescale(sum, units, size);
        return below(2) == 0
                ? dense
                : bind(
                        new TflSoftmax(1.0f),
                        dense,
                        scale(),
                        draw.zeroPoint(),
                        Constant.scalar(1 / 256f),
                        Constant.scalar(-128));
    }

    private Arg.Ref rescale(Arg.Ref sum, int channels, long taps) {
        int[] bias = draw.random.ints(channels, -3000, 3000).toArray();
        Arg.Ref biased = bind(new BiasAdd(-1), sum, Constant.vector(bias));
        QuantizedMultiplier q =
                QuantizedMultiplier.of(1.0 / (128 * Math.sqrt((double) taps)) * (0.5 + draw.random.nextDouble()));
        return bind(
                new TflRequantize(-1, 0, below(256) - 128, DType.INT8),
                biased,
                Constant.scalar(q.multiplier()),
                Constant.scalar(q.shift()));
    }

    private Constant scale() {
        return Constant.scalar(0.01f + draw.random.nextFloat());
    }
}
