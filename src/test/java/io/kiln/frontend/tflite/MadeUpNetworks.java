// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.SeededNet.Value;
import java.util.LinkedHashMap;
import java.util.Map;

/** Networks of the kinds that people run on microcontrollers, with drawn weights: what they answer means nothing. */
public final class MadeUpNetworks {
    private static final int PIXELS = 64;

    /** Expansion, channels, repetitions and stride of the first repetition (arXiv 1801.04381, table 2). */
    static final int[][] MOBILE_BLOCKS = {
        {1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}
    };

    /** Expansion, channels, side of the depthwise windows, stride. */
    private static final int[][] SEARCHED_BLOCKS = {
        {1, 8, 3, 1},
        {4, 16, 7, 2},
        {3, 16, 5, 1},
        {5, 24, 7, 2},
        {4, 24, 5, 1},
        {5, 40, 7, 2},
        {4, 40, 3, 1},
        {5, 48, 5, 1}
    };

    private MadeUpNetworks() {}

    /** The layers of a network behind its input. */
    interface Layers {
        Value of(SeededNet net, Value input);
    }

    /** Networks whose inputs and outputs are a large part of what is alive, by kind. */
    public static Map<String, byte[]> ofLargeTensors() {
        Map<String, byte[]> networks = new LinkedHashMap<>();
        networks.put("temporal", network(temporalConvolution(), 1, 1, 96, 16));
        networks.put("electrocardiogram", network(electrocardiogram(), 1, 1, 512, 2));
        networks.put("coder", network(coder(), 1, 320));
        networks.put("image_coder", network(imageCoder(), 1, 24, 24, 3));
        networks.put("unet", network(unet(), 1, 32, 32, 3));
        networks.put("separable", network(separable(24, 1), 1, 25, 6, 4));
        networks.put("bottlenecks", network(bottlenecks(), 1, 24, 24, 3));
        return networks;
    }

    /** The same and larger ones, of which the most time goes into products. */
    public static Map<String, byte[]> all() {
        Map<String, byte[]> networks = ofLargeTensors();
        networks.put("dscnn_large", network(separable(276, 5), 1, 25, 5, 1));
        networks.put("mobilenet_035", network(mobileNet(), 1, PIXELS, PIXELS, 3));
        networks.put("mcunet_like", network(searched(), 1, PIXELS, PIXELS, 3));
        networks.put("yolo_like", network(detector(), 1, PIXELS, PIXELS, 3));
        networks.put("odd_channels", network(oddChannels(), 1, 17, 19, 3));
        return networks;
    }

    private static byte[] network(Layers layers, int... shape) {
        SeededNet net = new SeededNet(1);
        Value input = net.input("input", 0.02, 3, shape);
        return net.build(layers.of(net, input), input);
    }

    /** One row in time: each layer's output is as large as its input, and added to it. */
    private static Layers temporalConvolution() {
        return (net, input) -> {
            Value x = net.conv(input, 64, 1, 3, 1, true);
            for (int i = 0; i < 3; i++) {
                x = net.sum(x, net.conv(x, 64, 1, 3, 1, true));
            }
            return net.conv(x, 16, 1, 1, 1, false);
        };
    }

    private static Layers electrocardiogram() {
        return (net, input) -> {
            Value x = net.conv(input, 8, 1, 7, 2, true);
            x = net.conv(net.conv(x, 16, 1, 5, 2, true), 32, 1, 5, 2, true);
            return net.classify(net.flatten(net.averagePool(x)), 5);
        };
    }

    private static Layers coder() {
        return (net, input) ->
                net.dense(net.dense(net.dense(net.dense(input, 64, true), 8, true), 64, true), 320, false);
    }

    private static Layers imageCoder() {
        return (net, input) -> {
            Value code = net.conv(net.conv(input, 8, 3, 3, 2, true), 4, 3, 3, 2, true);
            return net.transposeConv(net.transposeConv(code, 8), 3);
        };
    }

    private static Layers unet() {
        return (net, input) -> {
            Value down = net.conv(input, 8, 3, 3, 1, true);
            Value below = net.conv(net.conv(down, 16, 3, 3, 2, true), 16, 3, 3, 1, true);
            return net.conv(net.concatenate(down, net.transposeConv(below, 8)), 3, 3, 3, 1, false);
        };
    }

    private static Layers separable(int channels, int blocks) {
        return (net, input) -> {
            Value x = net.conv(input, channels, 3, 3, 1, true);
            for (int i = 0; i < blocks; i++) {
                x = net.conv(net.depthwise(x, 1), channels, 1, 1, 1, true);
            }
            return net.classify(net.flatten(net.averagePool(x)), 12);
        };
    }

    private static Layers bottlenecks() {
        return (net, input) -> {
            Value x = net.conv(input, 8, 3, 3, 2, true);
            for (int i = 0; i < 2; i++) {
                x = net.sum(x, bottleneck(net, x, 4, 8, 3, 1));
            }
            return x;
        };
    }

    /** A 1x1 convolution that widens, a depthwise one, a 1x1 convolution that narrows. */
    static Value bottleneck(SeededNet net, Value x, int expansion, int channels, int window, int stride) {
        Value wide = expansion == 1 ? x : net.conv(x, expansion * x.shape()[3], 1, 1, 1, true);
        return net.conv(net.depthwise(wide, window, stride), channels, 1, 1, 1, false);
    }

    private static Layers mobileNet() {
        return (net, input) -> {
            Value x = net.conv(input, scaled(32), 3, 3, 2, true);
            for (int[] block : MOBILE_BLOCKS) {
                for (int i = 0; i < block[2]; i++) {
                    Value y = bottleneck(net, x, block[0], scaled(block[1]), 3, i == 0 ? block[3] : 1);
                    x = i == 0 ? y : net.sum(x, y);
                }
            }
            return net.classify(net.flatten(net.averagePool(net.conv(x, 448, 1, 1, 1, true))), 10);
        };
    }

    /** A width of 0.35, in multiples of 8. */
    private static int scaled(int channels) {
        return Math.max(8, (channels * 35 / 100 + 4) / 8 * 8);
    }

    private static Layers searched() {
        return (net, input) -> {
            Value x = net.conv(input, 16, 3, 3, 2, true);
            for (int[] block : SEARCHED_BLOCKS) {
                Value y = bottleneck(net, x, block[0], block[1], block[2], block[3]);
                x = block[3] == 1 && x.shape()[3] == block[1] ? net.sum(x, y) : y;
            }
            return net.classify(net.flatten(net.averagePool(x)), 10);
        };
    }

    private static Layers detector() {
        return (net, input) -> {
            Value x = net.conv(input, 16, 3, 3, 2, true);
            for (int channels = 32; channels <= 64; channels += 16) {
                x = net.conv(x, channels, 3, 3, channels == 48 ? 1 : 2, true);
            }
            Value head = net.conv(net.conv(x, 32, 1, 1, 1, true), 64, 3, 3, 1, true);
            return net.conv(net.concatenate(x, head), 18, 1, 1, 1, false);
        };
    }

    private static Layers oddChannels() {
        return (net, input) -> {
            Value x = net.conv(net.depthwise(net.conv(input, 13, 3, 3, 1, true), 2), 29, 1, 1, 1, true);
            return net.classify(net.flatten(net.averagePool(net.conv(x, 31, 3, 3, 1, true))), 7);
        };
    }
}
