// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/**
 * A made-up layer with random int8 weights, with inputs and an output of its own in a model.
 *
 * @param name of the layer and its tensors
 * @param regular name of the layer whose cost for a multiply-accumulate it is compared with; its own name if it is a regular one
 * @param kind the operator
 * @param input height, width and channels
 * @param channels of the output
 * @param window taps, stride, dilation, padding
 * @param scale real multiplier of an average sum; above 0.5 it is a shift to the left
 */
record HardLayer(String name, String regular, Kind kind, Image input, int channels, Taps window, double scale) {
    private static final float SCALE = 0.05f;
    private static final int ZERO_POINT = -3;

    enum Kind {
        CONVOLUTION,
        DEPTHWISE,
        /** Of int16 data, without a bias. */
        DEPTHWISE_INT16,
        DENSE,
        /** The product of two inputs: matrices of height times channels, one for each column of the width; the second is transposed. */
        PRODUCT,
        /** The same with a second matrix as it is. */
        PRODUCT_AS_IS,
        /** A product of int16 data. */
        PRODUCT_INT16;

        private boolean isProduct() {
            return this == PRODUCT || this == PRODUCT_AS_IS || this == PRODUCT_INT16;
        }
    }

    /** Height, width and channels. */
    record Image(int height, int width, int channels) {}

    /** A window: rows and columns of taps, and what is the same in both directions, except for windows of one row. */
    record Taps(int rows, int columns, int stride, int dilation, boolean padded) {
        static Taps of(int size) {
            return new Taps(size, size, 1, 1, true);
        }

        Taps strided(int by) {
            return new Taps(rows, columns, by, dilation, padded);
        }

        Taps dilated(int by) {
            return new Taps(rows, columns, stride, by, padded);
        }

        private int size(int in, int taps) {
            int span = padded ? 1 : (taps - 1) * dilation + 1;
            return (in - span) / stride + 1;
        }
    }

    /** Adds the layer to a model. */
    Ends add(TfliteModelBuilder model) {
        if (kind.isProduct()) {
            return addProduct(model);
        }
        Random random = new Random(name.hashCode());
        int in = model.tensor(
                kind == Kind.DENSE
                        ? TensorSpec.int8(name + "_in", SCALE, ZERO_POINT, input.height, input.channels)
                        : image(name + "_in", input.height, input.width, input.channels));
        int weights = weights(model, random);
        int[] all = isWide() ? new int[] {in, weights} : new int[] {in, weights, bias(model, random)};
        int rows = window.size(input.height, window.rows);
        int columns = window.size(input.width, window.columns);
        int out = model.tensor(
                kind == Kind.DENSE
                        ? TensorSpec.int8(name, SCALE, ZERO_POINT, input.height, channels)
                        : image(name, rows, columns, channels));
        switch (kind) {
            case CONVOLUTION -> model.operator(BuiltinOperator.CONV_2D, 3, convolution(), all, out);
            case DEPTHWISE, DEPTHWISE_INT16 ->
                model.operator(BuiltinOperator.DEPTHWISE_CONV_2D, 3, depthwise(), all, out);
            default ->
                model.operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        4,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        all,
                        out);
        }
        return new Ends(List.of(in), out);
    }

    private boolean isWide() {
        return kind == Kind.DEPTHWISE_INT16 || kind == Kind.PRODUCT_INT16;
    }

    private TensorSpec image(String tensor, int height, int width, int depth) {
        return isWide()
                ? TensorSpec.of(tensor, TensorType.INT16, 1, height, width, depth)
                        .quantized(SCALE, 0)
                : TensorSpec.int8(tensor, SCALE, ZERO_POINT, 1, height, width, depth);
    }

    private Ends addProduct(TfliteModelBuilder model) {
        boolean isTransposed = kind != Kind.PRODUCT_AS_IS;
        int[] second = isTransposed ? new int[] {channels, input.channels} : new int[] {input.channels, channels};
        int a = matrix(model, "_a", SCALE, ZERO_POINT, new int[] {input.height, input.channels});
        int b = matrix(model, "_b", scale, ZERO_POINT + 8, second);
        int out = matrix(model, "", SCALE, ZERO_POINT, new int[] {input.height, channels});
        Options options =
                Options.table(BuiltinOptions.BatchMatMulOptions, Field.bool(0, false), Field.bool(1, isTransposed));
        model.operator(BuiltinOperator.BATCH_MATMUL, 3, options, new int[] {a, b}, out);
        return new Ends(List.of(a, b), out);
    }

    private int matrix(TfliteModelBuilder model, String suffix, double of, int zeroPoint, int[] sizes) {
        return model.tensor(TensorSpec.of(
                        name + suffix,
                        isWide() ? TensorType.INT16 : TensorType.INT8,
                        1,
                        input.width,
                        sizes[0],
                        sizes[1])
                .quantized((float) of, isWide() ? 0 : zeroPoint));
    }

    /** Tensors of a layer. */
    record Ends(List<Integer> in, int out) {
        Ends {
            in = List.copyOf(in);
        }
    }

    private Options convolution() {
        return Options.conv2d(
                padding(), window.stride, window.stride, Options.NO_ACTIVATION, window.dilation, window.dilation);
    }

    private Options depthwise() {
        return Options.depthwise(
                padding(),
                window.stride,
                window.stride,
                channels / input.channels,
                Options.NO_ACTIVATION,
                window.dilation,
                window.dilation);
    }

    private byte padding() {
        return window.padded ? Options.SAME : Options.VALID;
    }

    private int weights(TfliteModelBuilder model, Random random) {
        int[] shape = switch (kind) {
            case CONVOLUTION -> new int[] {channels, window.rows, window.columns, input.channels};
            case DEPTHWISE, DEPTHWISE_INT16 -> new int[] {1, window.rows, window.columns, channels};
            default -> new int[] {channels, input.channels};
        };
        byte[] data = new byte[Arrays.stream(shape).reduce(1, (a, b) -> a * b)];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (random.nextInt(255) - 127);
        }
        TensorSpec spec =
                TensorSpec.of(name + "_weights", TensorType.INT8, shape).withData(data);
        return model.tensor(
                kind == Kind.DENSE
                        ? spec.quantized((float) scale, 0)
                        : spec.quantized(scales(), new long[channels], kind == Kind.CONVOLUTION ? 0 : 3));
    }

    private int bias(TfliteModelBuilder model, Random random) {
        int[] values = random.ints(channels, -9000, 9000).toArray();
        float[] scales = scales();
        for (int i = 0; i < channels; i++) {
            scales[i] *= SCALE;
        }
        TensorSpec spec = TensorSpec.int32(name + "_bias", values);
        return model.tensor(
                kind == Kind.DENSE
                        ? spec.quantized((float) scale * SCALE, 0)
                        : spec.quantized(scales, new long[channels], 0));
    }

    /** Input and output have the same scale, so that the weight's is the multiplier. */
    private float[] scales() {
        float[] scales = new float[channels];
        for (int i = 0; i < channels; i++) {
            scales[i] = (float) (scale * (0.6 + 0.8 * Math.abs(Math.sin(i + name.length()))));
        }
        return scales;
    }
}
