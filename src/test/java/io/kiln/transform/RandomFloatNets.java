// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Random;

/**
 * Seeded float32 networks: convolutions, depthwise ones, sums, pools, dense layers, softmax. Weights are small enough
 * that values stay near those of the input, so that rounding does not grow from layer to layer.
 */
public final class RandomFloatNets {
    private final Random random;
    private final NetBuilder net = new NetBuilder();

    private RandomFloatNets(long seed) {
        this.random = new Random(seed);
    }

    /** A function named {@code floats<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        Function function = new RandomFloatNets(seed).build();
        return new Function("floats" + seed, function.params(), function.bindings(), function.results());
    }

    private Function build() {
        Arg.Ref x = net.floatInput(1, 1 + below(7), 1 + below(7), 1 + below(4));
        x = conv(x, window(x), 1 + below(8));
        if (below(3) > 0) {
            x = depthwise(x);
        }
        Arg.Ref trunk = conv(x, NetBuilder.POINT, 1 + below(8));
        x = trunk;
        if (below(2) == 0) {
            x = net.bind(new Binary(Binary.Kind.ADD), trunk, conv(trunk, NetBuilder.POINT, net.channels(trunk)));
        }
        Window window = window(x);
        x = net.bind(below(2) == 0 ? new MaxPool2d(window) : new AvgPool2d(window), x);
        x = net.bind(new Reshape(Shape.of(1, (int) net.type(x).shape().elements())), x);
        x = dense(x, 1 + below(6));
        if (below(2) == 0) {
            x = net.bind(new Softmax(1.0f), x);
        }
        return below(4) == 0 ? net.function(x, trunk) : net.function(x);
    }

    private int below(int bound) {
        return random.nextInt(bound);
    }

    private Window window(Arg.Ref data) {
        Shape shape = net.type(data).shape();
        int h = Math.min(1 + below(3), shape.dim(1));
        int w = Math.min(1 + below(3), shape.dim(2));
        int top = below(2) * (h - 1) / 2;
        int left = below(2) * (w - 1) / 2;
        return Window.of(h, w).strided(1 + below(2), 1 + below(2)).padded(top, left, top, left);
    }

    private Arg.Ref conv(Arg.Ref data, Window window, int outputs) {
        Shape kernel = Shape.of(outputs, window.kernelH(), window.kernelW(), net.channels(data));
        return finish(net.bind(new Conv2d(window, 1, outputs, "OHWI"), data, weights(kernel, outputs)), outputs);
    }

    private Arg.Ref depthwise(Arg.Ref data) {
        int channels = net.channels(data);
        if (channels == 1) {
            return data;
        }
        Window window = window(data);
        Shape kernel = Shape.of(window.kernelH(), window.kernelW(), channels, 1);
        Conv2d depthwise = new Conv2d(window, channels, channels, "HWOI");
        return finish(net.bind(depthwise, data, weights(kernel, channels)), channels);
    }

    private Arg.Ref dense(Arg.Ref data, int units) {
        Shape kernel = Shape.of(units, net.channels(data));
        return finish(net.bind(new Dense(units), data, weights(kernel, units)), units);
    }

    /** The weights of one output have an absolute sum of at most 1. */
    private Constant weights(Shape shape, int outputs) {
        float[] values = new float[(int) shape.elements()];
        int taps = values.length / outputs;
        for (int i = 0; i < values.length; i++) {
            values[i] = (2 * random.nextFloat() - 1) / taps;
        }
        return new Constant(
                "",
                new TensorType(shape, Constant.vector(values).type().dtype()),
                Constant.vector(values).data());
    }

    /** Bias and limits, or neither. */
    private Arg.Ref finish(Arg.Ref sum, int channels) {
        Arg.Ref x = sum;
        if (below(4) > 0) {
            float[] bias = new float[channels];
            for (int i = 0; i < channels; i++) {
                bias[i] = random.nextFloat() - 0.5f;
            }
            x = net.bind(new BiasAdd(-1), x, Constant.vector(bias));
        }
        return below(2) == 0 ? net.bind(new Clip(0, 6), x) : x;
    }
}
