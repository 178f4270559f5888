// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.MadeUpNetworks.Layers;
import io.kiln.frontend.tflite.SeededNet.Value;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Networks of ST's model zoo (github.com/STMicroelectronics/stm32ai-modelzoo), layer by layer, with drawn weights: what they answer means
 * nothing. Batch normalisation is part of the convolution behind or before it, and padding is the convolution's, as converters have it.
 */
public final class ZooNetworks {
    private static final int FLOWERS = 5;
    private static final int SOUNDS = 10;
    private static final int CIFAR = 32;

    /** Channels and stride of a depthwise and a 1x1 convolution (arXiv 1704.04861, table 1). */
    private static final int[][] MOBILE = {
        {64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1},
        {1024, 2}, {1024, 1}
    };

    /** Likewise, with half the layers (arXiv 1802.03750). */
    private static final int[][] FAST = {
        {64, 2}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 1}
    };

    /** Widths of the first convolution and of these layers, in eighths; further layers have the last one's. */
    private static final int[] QUARTER = {2};

    private static final int[] ST_FAST = {4, 6, 5, 4, 3, 2};

    private ZooNetworks() {}

    /**
     * A network.
     *
     * @param parameterBytes of its weights and biases
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared, and nobody writes to a file.
    public record Network(byte[] file, long parameterBytes) {}

    /** What an input is: pixels of uint8, features of int8, or float32. */
    private enum Kind {
        IMAGE,
        SOUND,
        FLOATS
    }

    @SuppressWarnings("ArrayRecordComponent") // Never compared, and nobody writes to a shape.
    private record Recipe(Layers layers, Kind kind, int... shape) {}

    private static Map<String, Recipe> recipes() {
        Map<String, Recipe> all = new LinkedHashMap<>();
        all.put("st_mnist", new Recipe(digits(), Kind.IMAGE, 1, 28, 28, 1));
        all.put("fdmobilenet_0.25_128", new Recipe(mobile(FAST, QUARTER, false), Kind.IMAGE, 1, 128, 128, 3));
        all.put("mobilenet_v1_0.25_96_gray", new Recipe(mobile(MOBILE, QUARTER, true), Kind.IMAGE, 1, 96, 96, 1));
        all.put("mobilenet_v1_0.25_96", new Recipe(mobile(MOBILE, QUARTER, true), Kind.IMAGE, 1, 96, 96, 3));
        all.put("st_fdmobilenet_v1_128", new Recipe(mobile(FAST, ST_FAST, false), Kind.IMAGE, 1, 128, 128, 3));
        all.put("fdmobilenet_0.25_224", new Recipe(mobile(FAST, QUARTER, false), Kind.IMAGE, 1, 224, 224, 3));
        all.put("resnet_v1_8", new Recipe(residual(1, 10), Kind.IMAGE, 1, CIFAR, CIFAR, 3));
        all.put("mobilenet_v2_0.35_128", new Recipe(mobile2(), Kind.IMAGE, 1, 128, 128, 3));
        all.put("st_fdmobilenet_v1_224", new Recipe(mobile(FAST, ST_FAST, false), Kind.IMAGE, 1, 224, 224, 3));
        all.put("mobilenet_v1_0.25_224", new Recipe(mobile(MOBILE, QUARTER, true), Kind.IMAGE, 1, 224, 224, 3));
        all.put("mobilenet_v2_0.35_224", new Recipe(mobile2(), Kind.IMAGE, 1, 224, 224, 3));
        all.put("resnet_v1_32", new Recipe(residual(5, 100), Kind.IMAGE, 1, CIFAR, CIFAR, 3));
        all.put("ign_24", new Recipe(activity(), Kind.FLOATS, 1, 24, 3, 1));
        all.put("ign_48", new Recipe(activity(), Kind.FLOATS, 1, 48, 3, 1));
        all.put("gmp_24", new Recipe(mostActive(), Kind.FLOATS, 1, 24, 3, 1));
        all.put("gmp_48", new Recipe(mostActive(), Kind.FLOATS, 1, 48, 3, 1));
        all.put("miniresnet_1", new Recipe(miniature(1), Kind.SOUND, 1, 64, 50, 1));
        all.put("miniresnet_2", new Recipe(miniature(2), Kind.SOUND, 1, 64, 50, 1));
        all.put("yamnet_256", new Recipe(sounds(), Kind.SOUND, 1, 64, 96, 1));
        return all;
    }

    /** Their names, the smaller ones of a board first. */
    public static List<String> names() {
        return List.copyOf(recipes().keySet());
    }

    /** Makes one; always the same bytes. */
    public static Network network(String name) {
        Recipe recipe = recipes().get(name);
        SeededNet net = new SeededNet(1);
        if (recipe.kind == Kind.FLOATS) {
            Value input = net.floatInput("input", recipe.shape);
            return new Network(net.build(recipe.layers.of(net, input), input), net.parameterBytes());
        }
        Value input = net.input("data", 1.0 / 128, recipe.kind == Kind.IMAGE ? -128 : 3, recipe.shape);
        Value given = recipe.kind == Kind.IMAGE ? net.input("image", input) : input;
        return new Network(net.build(net.floats(recipe.layers.of(net, input)), given), net.parameterBytes());
    }

    private static Value classify(SeededNet net, Value x, int classes) {
        return net.classify(net.flatten(net.averagePool(x)), classes);
    }

    private static Layers mobile(int[][] blocks, int[] widths, boolean relu) {
        return (net, input) -> {
            Value x = net.conv(input, 32 * widths[0] / 8, 3, 3, 2, true);
            for (int i = 0; i < blocks.length; i++) {
                int width = widths[Math.min(i + 1, widths.length - 1)];
                x = net.conv(net.depthwise(x, 3, blocks[i][1], relu), blocks[i][0] * width / 8, 1, 1, 1, true);
            }
            return classify(net, x, FLOWERS);
        };
    }

    private static Layers mobile2() {
        return (net, input) -> {
            Value x = net.conv(input, scaled(32), 3, 3, 2, true);
            for (int[] block : MadeUpNetworks.MOBILE_BLOCKS) {
                for (int i = 0; i < block[2]; i++) {
                    int stride = i == 0 ? block[3] : 1;
                    Value y = MadeUpNetworks.bottleneck(net, x, block[0], scaled(block[1]), 3, stride);
                    x = stride == 1 && x.shape()[3] == y.shape()[3] ? net.sum(x, y) : y;
                }
            }
            return classify(net, net.conv(x, 1280, 1, 1, 1, true), FLOWERS);
        };
    }

    /** A width of 0.35 in multiples of 8, of which none is more than a tenth below it. */
    private static int scaled(int channels) {
        int exact = channels * 35 / 100;
        int near = Math.max(8, (exact + 4) / 8 * 8);
        return 10 * near < 9 * exact ? near + 8 : near;
    }

    private static Layers residual(int blocks, int classes) {
        return (net, input) -> {
            Value x = net.conv(input, 16, 3, 3, 1, true);
            for (int channels = 16; channels <= 64; channels *= 2) {
                for (int i = 0; i < blocks; i++) {
                    int stride = channels > 16 && i == 0 ? 2 : 1;
                    Value y = net.conv(net.conv(x, channels, 3, 3, stride, true), channels, 3, 3, 1, false);
                    x = net.sum(stride == 1 ? x : net.conv(x, channels, 1, 1, stride, false), y);
                }
            }
            return classify(net, x, classes);
        };
    }

    private static Layers digits() {
        return (net, input) -> {
            Value x = net.depthwise(net.conv(input, 16, 3, 3, 2, true), 1);
            x = net.depthwise(net.conv(x, 32, 3, 3, 1, true), 2);
            return classify(net, net.conv(x, 64, 1, 1, 1, true), 36);
        };
    }

    private static Layers sounds() {
        return (net, input) -> {
            Value x = net.conv(net.transpose(input), 32, 3, 3, 2, true);
            for (int[] block : List.of(MOBILE).subList(0, 5)) {
                x = net.conv(net.depthwise(x, block[1]), block[0], 1, 1, 1, true);
            }
            return classify(net, x, SOUNDS);
        };
    }

    private static Layers miniature(int stacks) {
        return (net, input) -> {
            Value x = net.maxPool(net.conv(input, 64, 7, 7, 2, true), 3, 2);
            for (int channels = 64; channels < 64 << stacks; channels *= 2) {
                Value y = net.conv(net.conv(x, channels, 1, 1, 2, true), channels, 3, 3, 1, true);
                x = net.sum(net.conv(x, channels, 1, 1, 2, false), y);
                x = net.sum(x, net.conv(net.conv(x, channels, 1, 1, 1, true), channels, 3, 3, 1, true));
            }
            return net.classify(net.flatten(x), SOUNDS);
        };
    }

    private static Layers activity() {
        return (net, input) -> {
            Value x = net.maxPool(net.validConv(input, 24, 16, 1, 1, true), 3, 1, 3, 1);
            return net.classify(net.dense(net.flatten(x), 12, false), 4);
        };
    }

    private static Layers mostActive() {
        return (net, input) -> {
            Value x = net.validConv(net.validConv(input, 16, 5, 1, 1, false), 16, 5, 1, 1, false);
            return net.classify(net.flatten(net.maxPool(x, x.shape()[1], x.shape()[2], 1, 1)), 4);
        };
    }
}
