// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/**
 * Writes networks of the usual layers with drawn weights. Scales are chosen so that values use their range and neither vanish nor
 * saturate, whatever follows whatever.
 */
public final class SeededNet {
    /** Root of the mean square of elements in steps of their scale: int8 weights, int8 and int16 activations. */
    private static final double WEIGHT = 73;

    private static final double SMALL = 60;
    private static final double WIDE = 9000;

    /** A step of weights, unless something speaks for another one. */
    private static final double MIDDLE = 0.004;

    /** Root of the mean square of what a softmax is computed of. */
    private static final double LOGIT = 2;

    private static final int LSTM_INPUTS = 24;
    private static final byte TANH = 4;

    /**
     * A tensor that layers read.
     *
     * @param scale 0 if it is of floats
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared, and nobody writes to a shape.
    public record Value(int tensor, byte type, float scale, long zeroPoint, int... shape) {}

    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private final Random random;
    private int count;
    private long parameterBytes;

    public SeededNet(long seed) {
        random = new Random(seed);
    }

    /** An int8 input. */
    public Value input(String name, double scale, long zeroPoint, int... shape) {
        return value(name, TensorType.INT8, shortened(scale), zeroPoint, shape);
    }

    /** An int16 input, which has no zero point. */
    public Value wideInput(String name, double scale, int... shape) {
        return value(name, TensorType.INT16, shortened(scale), 0, shape);
    }

    public Value floatInput(String name, int... shape) {
        return value(name, TensorType.FLOAT32, 0, 0, shape);
    }

    /** A uint8 input of the same real numbers as an int8 value. */
    public Value input(String name, Value same) {
        int input = model.tensor(TensorSpec.of(name, TensorType.UINT8, same.shape)
                .quantized(same.scale, same.zeroPoint - Byte.MIN_VALUE));
        add(BuiltinOperator.QUANTIZE, 2, Options.none(), same, input);
        return new Value(input, TensorType.UINT8, same.scale, same.zeroPoint - Byte.MIN_VALUE, same.shape);
    }

    /** The same real numbers as floats. */
    public Value floats(Value x) {
        Value y = value("floats" + count++, TensorType.FLOAT32, 0, 0, x.shape);
        return add(BuiltinOperator.DEQUANTIZE, 2, Options.none(), y, x.tensor);
    }

    /** Bytes of all weights and biases so far. */
    public long parameterBytes() {
        return parameterBytes;
    }

    private Value value(String name, byte type, float scale, long zeroPoint, int... shape) {
        TensorSpec tensor = TensorSpec.of(name, type, shape);
        int index = model.tensor(type == TensorType.FLOAT32 ? tensor : tensor.quantized(scale, zeroPoint));
        return new Value(index, type, scale, zeroPoint, shape);
    }

    /** With padding that keeps the size, but for the stride. */
    public Value conv(Value x, int channels, int height, int width, int stride, boolean relu) {
        int[] size = {strided(x.shape[1], stride), strided(x.shape[2], stride)};
        return conv(x, channels, new int[] {height, width}, size, Options.SAME, stride, relu);
    }

    /** Without padding. */
    public Value validConv(Value x, int channels, int height, int width, int stride, boolean relu) {
        int[] size = {strided(x.shape[1] - height + 1, stride), strided(x.shape[2] - width + 1, stride)};
        return conv(x, channels, new int[] {height, width}, size, Options.VALID, stride, relu);
    }

    private Value conv(Value x, int channels, int[] window, int[] size, byte padding, int stride, boolean relu) {
        int depth = x.shape[3];
        Layer layer = layer(x, window[0] * window[1] * depth, 0, MIDDLE, channels, window[0], window[1], depth);
        Value y = output(x, layer, relu, x.shape[0], size[0], size[1], channels);
        Options options = Options.conv2d(padding, stride, stride, activation(relu), 1, 1);
        return add(BuiltinOperator.CONV_2D, 3, options, y, x.tensor, layer.weights, layer.bias);
    }

    /** One kernel of 3x3 for each channel. */
    public Value depthwise(Value x, int stride) {
        return depthwise(x, 3, stride);
    }

    /** One square kernel for each channel. */
    public Value depthwise(Value x, int side, int stride) {
        return depthwise(x, side, stride, true);
    }

    /** The same, with or without ReLU. */
    public Value depthwise(Value x, int side, int stride, boolean relu) {
        int channels = x.shape[3];
        Layer layer = layer(x, side * side, 3, MIDDLE, 1, side, side, channels);
        Value y =
                output(x, layer, relu, x.shape[0], strided(x.shape[1], stride), strided(x.shape[2], stride), channels);
        Options options = Options.depthwise(Options.SAME, stride, stride, 1, activation(relu), 1, 1);
        return add(BuiltinOperator.DEPTHWISE_CONV_2D, 3, options, y, x.tensor, layer.weights, layer.bias);
    }

    /** Twice the size, by 3x3 kernels. */
    public Value transposeConv(Value x, int channels) {
        Layer layer = layer(x, 9 * x.shape[3], 0, MIDDLE, channels, 3, 3, x.shape[3]);
        int[] shape = {x.shape[0], 2 * x.shape[1], 2 * x.shape[2], channels};
        int size = model.tensor(TensorSpec.int32("size" + count++, shape));
        Value y = output(x, layer, false, shape);
        Options options = Options.transposeConv(Options.SAME, 2, 2);
        return add(BuiltinOperator.TRANSPOSE_CONV, 3, options, y, size, layer.weights, x.tensor, layer.bias);
    }

    public Value dense(Value x, int units, boolean relu) {
        return dense(x, units, relu, MIDDLE);
    }

    /** A probability for each class; what it is computed of neither is the same for all nor leaves one. */
    public Value classify(Value x, int classes) {
        double weight = x.type == TensorType.FLOAT32 ? 0 : LOGIT / (x.scale * SMALL * WEIGHT * Math.sqrt(x.shape[1]));
        Value logits = dense(x, classes, false, weight);
        Value y = value("softmax", x.type, x.type == TensorType.FLOAT32 ? 0 : 1f / 256, -128, logits.shape);
        return add(BuiltinOperator.SOFTMAX, 2, Options.softmax(1f), y, logits.tensor);
    }

    private Value dense(Value x, int units, boolean relu, double weight) {
        int inputs = x.shape[1];
        boolean isFloat = x.type == TensorType.FLOAT32;
        Layer layer = layer(x, inputs, -1, weight, units, inputs);
        Value y = output(x, layer, relu, x.shape[0], units);
        Options options = Options.fullyConnected(activation(relu), false);
        return add(BuiltinOperator.FULLY_CONNECTED, isFloat ? 1 : 4, options, y, x.tensor, layer.weights, layer.bias);
    }

    public Value sum(Value a, Value b) {
        Value y = value(
                "sum" + count++,
                a.type,
                shortened(1.4 * Math.max(a.scale, b.scale)),
                a.type == TensorType.INT8 ? -3 : 0,
                a.shape);
        return add(BuiltinOperator.ADD, 2, Options.add(Options.NO_ACTIVATION), y, a.tensor, b.tensor);
    }

    /** The channels of both, whose other axes are equal; those of b by the scale of a, as converters have it. */
    public Value concatenate(Value a, Value b) {
        int[] shape = a.shape.clone();
        shape[3] += b.shape[3];
        Value same = value("same" + count++, b.type, a.scale, a.zeroPoint, b.shape);
        add(BuiltinOperator.QUANTIZE, 2, Options.none(), same, b.tensor);
        Value y = value("joined" + count++, a.type, a.scale, a.zeroPoint, shape);
        Options options = Options.table(
                BuiltinOptions.ConcatenationOptions,
                Options.Field.int32(0, 3),
                Options.Field.int8(1, Options.NO_ACTIVATION));
        return add(BuiltinOperator.CONCATENATION, 2, options, y, a.tensor, same.tensor);
    }

    /** The mean of all positions. */
    public Value averagePool(Value x) {
        Value y = value("mean" + count++, x.type, x.scale, x.zeroPoint, x.shape[0], 1, 1, x.shape[3]);
        Options options =
                Options.pool(Options.VALID, x.shape[1], x.shape[2], x.shape[1], x.shape[2], Options.NO_ACTIVATION);
        return add(BuiltinOperator.AVERAGE_POOL_2D, 2, options, y, x.tensor);
    }

    /** The largest of each window, without padding. */
    public Value maxPool(Value x, int height, int width, int strideH, int strideW) {
        int rows = strided(x.shape[1] - height + 1, strideH);
        int columns = strided(x.shape[2] - width + 1, strideW);
        Options options = Options.pool(Options.VALID, strideH, strideW, height, width, Options.NO_ACTIVATION);
        return maxPool(x, rows, columns, options);
    }

    /** The largest of each square window, with padding that keeps the size, but for the stride. */
    public Value maxPool(Value x, int side, int stride) {
        Options options = Options.pool(Options.SAME, stride, stride, side, side, Options.NO_ACTIVATION);
        return maxPool(x, strided(x.shape[1], stride), strided(x.shape[2], stride), options);
    }

    private Value maxPool(Value x, int rows, int columns, Options options) {
        Value y = value("most" + count++, x.type, x.scale, x.zeroPoint, x.shape[0], rows, columns, x.shape[3]);
        return add(BuiltinOperator.MAX_POOL_2D, 2, options, y, x.tensor);
    }

    /** Rows become columns. */
    public Value transpose(Value x) {
        Value y =
                value("turned" + count++, x.type, x.scale, x.zeroPoint, x.shape[0], x.shape[2], x.shape[1], x.shape[3]);
        int axes = model.tensor(TensorSpec.int32("axes" + count++, 0, 2, 1, 3));
        return add(BuiltinOperator.TRANSPOSE, 2, Options.none(), y, x.tensor, axes);
    }

    public Value flatten(Value x) {
        int elements = Arrays.stream(x.shape).reduce(1, (a, b) -> a * b) / x.shape[0];
        Value y = value("flat" + count++, x.type, x.scale, x.zeroPoint, x.shape[0], elements);
        int shape = model.tensor(TensorSpec.int32("shape" + count++, -1, elements));
        return add(BuiltinOperator.RESHAPE, 1, Options.reshape(-1, elements), y, x.tensor, shape);
    }

    /** Of int8; {@code x} has the axes batch, time, feature. */
    public Value lstm(Value x, int units) {
        int inputs = x.shape[2];
        int[] in = new int[LSTM_INPUTS];
        Arrays.fill(in, -1);
        in[0] = x.tensor;
        float scale = 1f / 127;
        for (int gate = 0; gate < 4; gate++) {
            in[1 + gate] = model.tensor(TensorSpec.of("input_weights" + gate, x.type, units, inputs)
                    .quantized(scale, 0)
                    .withData(bytes(units * inputs)));
            in[5 + gate] = model.tensor(TensorSpec.of("recurrent_weights" + gate, x.type, units, units)
                    .quantized(scale, 0)
                    .withData(bytes(units * units)));
            in[12 + gate] = model.tensor(
                    TensorSpec.int32("gate_bias" + gate, integers(units, 500)).quantized(x.scale * scale, 0));
        }
        in[18] = model.tensor(
                TensorSpec.int8("hidden", 1f / 128, 0, x.shape[0], units).asVariable());
        in[19] = model.tensor(TensorSpec.of("cell", TensorType.INT16, x.shape[0], units)
                .quantized(1f / 2048, 0)
                .asVariable());
        Value y = value("states", x.type, 1f / 128, 0, x.shape[0], x.shape[1], units);
        Options options = Options.table(
                BuiltinOptions.UnidirectionalSequenceLSTMOptions,
                Options.Field.int8(0, TANH),
                Options.Field.float32(1, 0f),
                Options.Field.float32(2, 0f),
                Options.Field.bool(3, false));
        add(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, 1, options, y, in);
        int product = model.tensor(TensorSpec.int8("product", 1f / 128, 0, 1));
        model.intermediates(product, product, product, product, product);
        return y;
    }

    /** The model file. */
    public byte[] build(Value output, Value... inputs) {
        int[] indices = Arrays.stream(inputs).mapToInt(Value::tensor).toArray();
        return model.inputs(indices).outputs(output.tensor).build();
    }

    private Value add(int operator, int version, Options options, Value y, int... in) {
        model.operator(operator, version, options, in, y.tensor);
        return y;
    }

    /**
     * Weights and bias of a layer.
     *
     * @param spread what a product of one element and one weight adds to the root of the mean square of the sum
     */
    private record Layer(int weights, int bias, double spread) {}

    /**
     * Draws a layer.
     *
     * @param taps how many products a sum has
     * @param axis of the channels in the shape of the weights; -1 if one scale is that of all, with the channels first
     * @param weight about how large a step of the weights is
     */
    private Layer layer(Value x, int taps, int axis, double weight, int... shape) {
        int channels = shape[Math.max(axis, 0)];
        int elements = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        String name = "layer" + count++;
        parameterBytes +=
                (x.type == TensorType.FLOAT32 ? Float.BYTES : 1L) * elements + (long) Integer.BYTES * channels;
        if (x.type == TensorType.FLOAT32) {
            TensorSpec weights =
                    TensorSpec.float32(name + "_weights", shape).withData(floats(elements, 1 / Math.sqrt(taps)));
            TensorSpec bias = TensorSpec.float32(name + "_bias", channels).withData(floats(channels, 0.1));
            return new Layer(model.tensor(weights), model.tensor(bias), 1);
        }
        float[] scales = new float[axis < 0 ? 1 : channels];
        float[] products = new float[scales.length];
        for (int i = 0; i < scales.length; i++) {
            scales[i] = shortened(weight * (0.5 + random.nextFloat()));
            products[i] = scales[i] * x.scale;
        }
        boolean isWide = x.type == TensorType.INT16;
        double steps = isWide ? WIDE : SMALL;
        int[] biases = integers(channels, (int) (steps * WEIGHT * Math.sqrt(taps) / 4));
        ByteBuffer wide = ByteBuffer.allocate(8 * channels).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(biases).forEach(wide::putLong);
        TensorSpec bias = isWide
                ? TensorSpec.of(name + "_bias", TensorType.INT64, channels).withData(wide.array())
                : TensorSpec.int32(name + "_bias", biases);
        TensorSpec weights = TensorSpec.of(name + "_weights", TensorType.INT8, shape)
                .quantized(scales, new long[scales.length], Math.max(axis, 0))
                .withData(bytes(elements));
        return new Layer(
                model.tensor(weights),
                model.tensor(bias.quantized(products, new long[products.length], 0)),
                weight * WEIGHT * steps * Math.sqrt(taps));
    }

    /** What a layer computes: three times the root of its mean square is in range. */
    private Value output(Value x, Layer layer, boolean relu, int... shape) {
        boolean isSmall = x.type == TensorType.INT8;
        double range = isSmall ? relu ? 85 : 43 : WIDE;
        long zeroPoint = !isSmall ? 0 : relu ? -128 : 5;
        return value("value" + count++, x.type, shortened(x.scale * layer.spread / range), zeroPoint, shape);
    }

    /** Of 12 bits: the product of two scales is exact, whether in single or in double precision. */
    private static float shortened(double scale) {
        return Float.intBitsToFloat(Float.floatToIntBits((float) scale) & 0xFFFFF000);
    }

    private static byte activation(boolean relu) {
        return relu ? Options.RELU : Options.NO_ACTIVATION;
    }

    private static int strided(int size, int stride) {
        return (size + stride - 1) / stride;
    }

    private byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) (random.nextInt(255) - 127);
        }
        return bytes;
    }

    private int[] integers(int size, int most) {
        return random.ints(size, -most, most + 1).toArray();
    }

    private byte[] floats(int size, double spread) {
        float[] floats = new float[size];
        for (int i = 0; i < size; i++) {
            floats[i] = (float) (spread * random.nextGaussian());
        }
        return LittleEndian.ofFloats(floats);
    }
}
