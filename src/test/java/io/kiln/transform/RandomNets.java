// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.Arrays;
import java.util.Random;

/**
 * Seeded int8 networks (convolution, depthwise, convolution, sum, pool, dense) in which many kernels are zero, many inputs
 * are ignored, and some rescalings are too small to let anything through.
 */
public final class RandomNets {
    private final Random random;
    private final NetBuilder net = new NetBuilder();

    private RandomNets(long seed) {
        this.random = new Random(seed);
    }

    /** A function named {@code net<seed>}; the same for the same seed. */
    public static Function next(long seed) {
        Function function = new RandomNets(seed).build();
        return new Function("net" + seed, function.params(), function.bindings(), function.results());
    }

    private Function build() {
        Arg.Ref x = net.input(1, 1 + below(6), 1 + below(6), 1 + below(3));
        x = conv(x, 1 + below(6));
        if (below(4) > 0) {
            x = depthwise(x, 1 + below(4) / 3);
        }
        Arg.Ref trunk = conv(x, 1 + below(6));
        x = trunk;
        if (below(2) == 0) {
            x = add(trunk, conv(trunk, net.channels(trunk)));
        }
        if (below(3) == 0) {
            x = depthwise(x, 1);
        }
        x = pool(x);
        Shape pooled = net.type(x).shape();
        int pixels = pooled.dim(1) * pooled.dim(2);
        x = below(4) == 0
                ? net.bind(new Reshape(Shape.of(pixels, pooled.dim(3))), x)
                : net.bind(new Reshape(Shape.of(1, pixels * pooled.dim(3))), x);
        int units = 1 + below(4);
        x = finish(net.dense(x, units, zeroPoint(), weights(units, 1, net.channels(x))), net.channels(x), units);
        if (below(3) == 0) {
            x = finish(net.dense(x, 3, zeroPoint(), weights(3, 1, net.channels(x))), net.channels(x), 3);
        }
        return below(8) == 0 ? net.function(x, trunk) : net.function(x);
    }

    private int below(int bound) {
        return random.nextInt(bound);
    }

    private int zeroPoint() {
        return below(2) == 0 ? -128 : below(256) - 128;
    }

    private Window window(Arg.Ref data) {
        Shape shape = net.type(data).shape();
        int h = Math.min(1 + below(3), shape.dim(1));
        int w = Math.min(1 + below(3), shape.dim(2));
        boolean padded = below(2) == 0;
        int top = padded ? h / 2 : 0;
        int left = padded ? w / 2 : 0;
        return Window.of(h, w).strided(1 + below(2), 1 + below(2)).padded(top, left, padded ? (h - 1) / 2 : 0, left);
    }

    private Arg.Ref conv(Arg.Ref data, int outputs) {
        boolean keepsShape = net.channels(data) == outputs;
        Window window = keepsShape ? NetBuilder.POINT : window(data);
        int taps = window.kernelH() * window.kernelW();
        int[] weights = weights(outputs, taps, net.channels(data));
        return finish(net.conv(data, window, outputs, zeroPoint(), weights), taps * net.channels(data), outputs);
    }

    private Arg.Ref depthwise(Arg.Ref data, int multiplier) {
        int inputs = net.channels(data);
        if (inputs == 1) {
            return data;
        }
        Window window = window(data);
        int taps = window.kernelH() * window.kernelW();
        int[] weights = weights(taps, inputs * multiplier, 1);
        return finish(net.depthwise(data, window, multiplier, zeroPoint(), weights), taps, inputs * multiplier);
    }

    /** Weights by output, tap and input; many outputs and inputs are all zero. */
    private int[] weights(int outputs, int taps, int inputs) {
        int[] weights = new int[outputs * taps * inputs];
        Arrays.setAll(weights, i -> below(255) - 127);
        boolean[] deadInput = new boolean[inputs];
        for (int c = 0; c < inputs; c++) {
            deadInput[c] = inputs > 1 && below(5) == 0;
        }
        for (int o = 0; o < outputs; o++) {
            boolean dead = below(2) == 0;
            for (int i = 0; i < taps * inputs; i++) {
                if (dead || deadInput[i % inputs]) {
                    weights[o * taps * inputs + i] = 0;
                }
            }
        }
        return weights;
    }

    /** Bias, rescaling and limits. */
    private Arg.Ref finish(Arg.Ref accumulators, int taps, int outputs) {
        double[] scales = new double[outputs];
        int[] bias = new int[outputs];
        for (int o = 0; o < outputs; o++) {
            boolean tiny = below(4) == 0;
            scales[o] = tiny ? (0.1 + random.nextDouble()) * 1e-9 : (0.2 + random.nextDouble()) / (100.0 * taps);
            bias[o] = tiny ? below(1 << 30) : below(40_000) - 20_000;
        }
        Arg.Ref sum = below(4) == 0 ? accumulators : net.bias(accumulators, bias);
        Arg.Ref rescaled = net.requantize(sum, zeroPoint(), scales);
        int low = below(200) - 128;
        return below(3) == 0 ? net.bind(new Clip(low, Math.min(127, low + below(120))), rescaled) : rescaled;
    }

    private Arg.Ref add(Arg.Ref lhs, Arg.Ref rhs) {
        int[] constant = random.ints(net.channels(lhs), -128, 128).toArray();
        Arg.Ref sum = net.add(lhs, rhs, below(100) - 50);
        return below(3) == 0 ? net.add(sum, NetBuilder.int8(Shape.of(constant.length), constant), 3) : sum;
    }

    private Arg.Ref pool(Arg.Ref data) {
        Shape shape = net.type(data).shape();
        if (below(2) == 0) {
            Window whole = Window.of(shape.dim(1), shape.dim(2));
            return net.bind(new AvgPool2d(whole), data);
        }
        Window window = window(data);
        return below(2) == 0 ? net.bind(new MaxPool2d(window), data) : net.bind(new AvgPool2d(window), data);
    }
}
