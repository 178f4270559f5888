// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
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
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Seeded small int8 networks: convolutions, depthwise convolutions, pools and residual sums with strides and paddings, then
 * mostly a pool over the whole map and a fully connected layer.
 */
public final class RandomResiduals {
    private final Random random;
    private final List<Binding> bindings = new ArrayList<>();
    private final List<TensorType> types = new ArrayList<>();
    private final List<Result> results = new ArrayList<>();

    private RandomResiduals(long seed) {
        this.random = new Random(seed);
    }

    /** A function named {@code residual<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        return new RandomResiduals(seed).build("residual" + seed);
    }

    private Function build(String name) {
        Shape shape = Shape.of(1, 3 + below(14), 1 + below(6), 1 + below(5));
        types.add(new TensorType(shape, DType.INT8));
        Parameter parameter = new Parameter(0, "x", types.get(0), Optional.of(new Quantization(0.05f, 0)));
        int current = 0;
        int layers = 2 + below(7);
        for (int i = 0; i < layers; i++) {
            current = below(4) == 0 ? block(current) : layer(current);
            if (below(12) == 0 && current > 0) {
                result(current);
            }
        }
        if (below(4) > 0) {
            current = head(current);
        }
        result(current);
        return new Function(name, List.of(parameter), bindings, results);
    }

    private void result(int id) {
        results.add(new Result(id, "out" + results.size(), Optional.empty()));
    }

    private int below(int bound) {
        return random.nextInt(bound);
    }

    private Shape shape(int id) {
        return types.get(id).shape();
    }

    private int bind(Op op, Arg... args) {
        List<TensorType> given = new ArrayList<>();
        for (Arg arg : args) {
            given.add(arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id()));
        }
        int id = types.size();
        types.add(op.infer(given));
        bindings.add(new Binding(id, op, List.of(args), types.get(id), new Origin("net", id, op.name(), "t" + id)));
        return id;
    }

    private int layer(int input) {
        return switch (below(6)) {
            case 0 -> pool(input);
            case 1, 2 -> convolution(input, window(input, true), true);
            default -> convolution(input, window(input, true), false);
        };
    }

    /** Two ways from one value that meet in a sum: it itself or a 1x1 convolution of it, and one or two layers. */
    private int block(int input) {
        int inner = convolution(input, same(), below(2) == 0);
        if (below(2) == 0) {
            inner = convolution(inner, same(), false);
        }
        boolean straight = shape(input).equals(shape(inner)) && below(3) > 0;
        Window one = Window.of(1, 1);
        int other = straight ? input : convolution(input, one, shape(inner).dim(3));
        Arg.Ref a = new Arg.Ref(below(2) == 0 ? inner : other);
        Arg.Ref b = new Arg.Ref(a.id() == inner ? other : inner);
        return bind(new QnnAdd(), a, b, scale(), zeroPoint(), scale(), zeroPoint(), scale(), zeroPoint());
    }

    private static Window same() {
        return Window.of(3, 3).padded(1, 1, 1, 1);
    }

    private Window window(int input, boolean strided) {
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

    private int pool(int input) {
        Window window = window(input, true);
        return bind(below(2) == 0 ? new AvgPool2d(window) : new MaxPool2d(window), new Arg.Ref(input));
    }

    private int convolution(int input, Window w, boolean depthwise) {
        int in = shape(input).dim(3);
        return depthwise && in > 1 ? convolution(input, w, in, in) : convolution(input, w, 1 + below(8));
    }

    private int convolution(int input, Window w, int channels) {
        return convolution(input, w, channels, 1);
    }

    private int convolution(int input, Window w, int channels, int groups) {
        int in = shape(input).dim(3);
        Shape kernel = groups > 1
                ? Shape.of(w.kernelH(), w.kernelW(), in, 1)
                : Shape.of(channels, w.kernelH(), w.kernelW(), in);
        int sum = bind(
                new QnnConv2d(w, groups, channels, groups > 1 ? "HWOI" : "OHWI"),
                new Arg.Ref(input),
                weights(kernel),
                zeroPoint(),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        return rescale(sum, channels, kernel.elements() / channels);
    }

    private int head(int input) {
        Shape map = shape(input);
        Window all = Window.of(map.dim(1), map.dim(2));
        int pooled = below(4) == 0
                ? input
                : bind(below(4) == 0 ? new MaxPool2d(all) : new AvgPool2d(all), new Arg.Ref(input));
        int size = (int) shape(pooled).elements();
        int flat = bind(new Reshape(Shape.of(1, size)), new Arg.Ref(pooled));
        int units = 2 + below(4);
        int sum = bind(
                new QnnDense(units),
                new Arg.Ref(flat),
                weights(Shape.of(units, size)),
                zeroPoint(),
                Constant.scalar(0),
                Constant.scalar(0.05f),
                Constant.scalar(0.01f));
        int dense = rescale(sum, units, size);
        return below(2) == 0
                ? dense
                : bind(
                        new TflSoftmax(1.0f),
                        new Arg.Ref(dense),
                        scale(),
                        zeroPoint(),
                        Constant.scalar(1 / 256f),
                        Constant.scalar(-128));
    }

    private int rescale(int sum, int channels, long taps) {
        int[] bias = random.ints(channels, -3000, 3000).toArray();
        int biased = bind(new BiasAdd(-1), new Arg.Ref(sum), Constant.vector(bias));
        QuantizedMultiplier q =
                QuantizedMultiplier.of(1.0 / (128 * Math.sqrt((double) taps)) * (0.5 + random.nextDouble()));
        return bind(
                new TflRequantize(-1, 0, below(256) - 128, DType.INT8),
                new Arg.Ref(biased),
                Constant.scalar(q.multiplier()),
                Constant.scalar(q.shift()));
    }

    private Constant weights(Shape shape) {
        TensorType type = new TensorType(shape, DType.INT8);
        return new Constant("weight", type, RandomOperators.input(type, random.nextLong()));
    }

    private Constant scale() {
        return Constant.scalar(0.01f + random.nextFloat());
    }

    private Constant zeroPoint() {
        return Constant.scalar(below(256) - 128);
    }
}
