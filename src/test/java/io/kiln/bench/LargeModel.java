// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import java.util.Arrays;
import java.util.Random;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/**
 * MobileNetV2's layers (arXiv 1801.04381, table 2; width 1, 224 x 224, 1000 classes) with random weights: about 4 MB and 300 million
 * multiply-accumulates. What it answers means nothing; it is there to be compiled.
 */
final class LargeModel {
    private static final float SCALE = 0.02f;
    private static final int ZERO_POINT = -3;

    /** Expansion, channels, repetitions and stride of the first repetition. */
    private static final int[][] BLOCKS = {
        {1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}
    };

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private final Random random = new Random(1);
    private int size = 224;
    private int channels = 3;
    private int count;

    private LargeModel() {}

    /** The model file; always the same bytes. */
    static byte[] write() {
        return new LargeModel().build();
    }

    private byte[] build() {
        int input = activation("image");
        int value = convolution(input, 32, 3, 2);
        for (int[] block : BLOCKS) {
            for (int i = 0; i < block[2]; i++) {
                value = bottleneck(value, block[0], block[1], i == 0 ? block[3] : 1);
            }
        }
        value = convolution(value, 1280, 1, 1);
        int pool = size;
        size = 1;
        int mean = activation("mean");
        model.operator(
                BuiltinOperator.AVERAGE_POOL_2D,
                2,
                Options.pool(Options.VALID, 1, 1, pool, pool, Options.NO_ACTIVATION),
                new int[] {value},
                mean);
        int flat = model.tensor(TensorSpec.int8("flat", SCALE, ZERO_POINT, 1, channels));
        int shape = model.tensor(TensorSpec.int32("shape", 1, channels));
        model.operator(BuiltinOperator.RESHAPE, 1, Options.reshape(1, channels), new int[] {mean, shape}, flat);
        int logits = model.tensor(TensorSpec.int8("logits", SCALE, ZERO_POINT, 1, 1000));
        int[] in = {flat, weights("classes", 0, 1000, channels), bias("classes_bias", 1000)};
        model.operator(
                BuiltinOperator.FULLY_CONNECTED, 4, Options.fullyConnected(Options.NO_ACTIVATION, false), in, logits);
        return model.inputs(input).outputs(logits).build();
    }

    /** A 1x1 convolution that widens, a depthwise one, a 1x1 convolution that narrows; added to its input where that fits. */
    private int bottleneck(int input, int expansion, int out, int stride) {
        boolean residual = stride == 1 && channels == out;
        int value = expansion == 1 ? input : convolution(input, expansion * channels, 1, 1);
        value = depthwise(value, stride);
        value = convolution(value, out, 1, 1);
        if (!residual) {
            return value;
        }
        int sum = activation("sum" + count++);
        model.operator(BuiltinOperator.ADD, 2, Options.add(Options.NO_ACTIVATION), new int[] {input, value}, sum);
        return sum;
    }

    private int convolution(int input, int out, int kernel, int stride) {
        String name = "conv" + count++;
        int[] in = {input, weights(name, 0, out, kernel, kernel, channels), bias(name + "_bias", out)};
        channels = out;
        size /= stride;
        int output = activation(name);
        model.operator(
                BuiltinOperator.CONV_2D,
                3,
                Options.conv2d(Options.SAME, stride, stride, Options.RELU, 1, 1),
                in,
                output);
        return output;
    }

    private int depthwise(int input, int stride) {
        String name = "depthwise" + count++;
        int[] in = {input, weights(name, 3, 1, 3, 3, channels), bias(name + "_bias", channels)};
        size /= stride;
        int output = activation(name);
        model.operator(
                BuiltinOperator.DEPTHWISE_CONV_2D,
                3,
                Options.depthwise(Options.SAME, stride, stride, 1, Options.RELU, 1, 1),
                in,
                output);
        return output;
    }

    private int activation(String name) {
        return model.tensor(TensorSpec.int8(name, SCALE, ZERO_POINT, 1, size, size, channels));
    }

    private int weights(String name, int channelDimension, int... shape) {
        byte[] data = new byte[Arrays.stream(shape).reduce(1, (a, b) -> a * b)];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (random.nextInt(255) - 127);
        }
        return model.tensor(TensorSpec.of(name + "_weights", TensorType.INT8, shape)
                .quantized(scales(shape[channelDimension]), new long[shape[channelDimension]], channelDimension)
                .withData(data));
    }

    private int bias(String name, int channelCount) {
        int[] values = random.ints(channelCount, -1000, 1000).toArray();
        float[] scales = scales(channelCount);
        for (int i = 0; i < channelCount; i++) {
            scales[i] *= SCALE;
        }
        return model.tensor(TensorSpec.int32(name, values).quantized(scales, new long[channelCount], 0));
    }

    /** The same for weights and biases: a function of the channel. */
    private static float[] scales(int channelCount) {
        float[] scales = new float[channelCount];
        for (int i = 0; i < channelCount; i++) {
            scales[i] = 0.001f + 0.0001f * (i % 17);
        }
        return scales;
    }
}
