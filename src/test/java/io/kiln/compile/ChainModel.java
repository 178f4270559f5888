// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import java.util.stream.IntStream;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Small layers one after another: a 1x1 convolution, a 3x3 one, and their sum, again and again. */
public final class ChainModel {
    private static final float SCALE = 0.02f;
    private static final int SIZE = 6;
    private static final int CHANNELS = 4;

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private int count;

    private ChainModel() {}

    /** The model file. */
    public static byte[] write(int operators) {
        return new ChainModel().build(operators);
    }

    private byte[] build(int operators) {
        int input = activation();
        int before = input;
        int value = input;
        for (int i = 0; i < operators; i++) {
            int next = switch (i % 3) {
                case 0 -> convolution(value, 1);
                case 1 -> convolution(value, 3);
                default -> sum(before, value);
            };
            before = value;
            value = next;
        }
        return model.inputs(input).outputs(value).build();
    }

    /**
     * An unrolled recurrent network: the same layer again and again, each time of the state before, then the sum with the
     * network's only input.
     */
    public static byte[] recurrent(int operators) {
        return new ChainModel().unrolled(operators);
    }

    private byte[] unrolled(int operators) {
        int input = activation();
        int[] layer = layer(1);
        int value = convolved(input, layer);
        for (int i = 1; i < operators; i++) {
            value = i % 2 == 1 ? sum(value, input) : convolved(value, layer);
        }
        return model.inputs(input).outputs(value).build();
    }

    /** The same layer of the network's only input with other weights again and again, and all results beside each other. */
    public static byte[] wide(int operators) {
        return new ChainModel().joined(operators);
    }

    private byte[] joined(int operators) {
        int input = activation();
        int[] values =
                IntStream.range(1, operators).map(i -> convolution(input, 1)).toArray();
        int all = model.tensor(TensorSpec.int8("all", SCALE, -3, 1, SIZE, SIZE, CHANNELS * values.length));
        Options last = Options.table(BuiltinOptions.ConcatenationOptions, Options.Field.int32(0, -1));
        model.operator(BuiltinOperator.CONCATENATION, 2, last, values, all);
        return model.inputs(input).outputs(all).build();
    }

    private int sum(int a, int b) {
        int sum = activation();
        model.operator(BuiltinOperator.ADD, 2, Options.add(Options.NO_ACTIVATION), new int[] {a, b}, sum);
        return sum;
    }

    private int convolution(int input, int kernel) {
        return convolved(input, layer(kernel));
    }

    /** The weights and the bias of a convolution. */
    private int[] layer(int kernel) {
        byte[] data = new byte[CHANNELS * kernel * kernel * CHANNELS];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 37 + count * 11 | 1);
        }
        float[] scales = {0.004f, 0.005f, 0.006f, 0.007f};
        int weights = model.tensor(TensorSpec.of("weights" + count, TensorType.INT8, CHANNELS, kernel, kernel, CHANNELS)
                .quantized(scales, new long[CHANNELS], 0)
                .withData(data));
        float[] products = new float[CHANNELS];
        IntStream.range(0, CHANNELS).forEach(i -> products[i] = scales[i] * SCALE);
        int bias = model.tensor(
                TensorSpec.int32("bias" + count, 5, -7, 11, count).quantized(products, new long[CHANNELS], 0));
        return new int[] {weights, bias};
    }

    private int convolved(int input, int[] layer) {
        int output = activation();
        model.operator(
                BuiltinOperator.CONV_2D,
                3,
                Options.conv2d(Options.SAME, 1, 1, Options.RELU, 1, 1),
                new int[] {input, layer[0], layer[1]},
                output);
        return output;
    }

    private int activation() {
        return model.tensor(TensorSpec.int8("value" + count++, SCALE, -3, 1, SIZE, SIZE, CHANNELS));
    }
}
