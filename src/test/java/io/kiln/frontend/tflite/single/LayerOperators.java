// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Convolutions, dense layers and pools. */
final class LayerOperators {
    static final String DENSE = "TensorFlow Lite rescales the sum in double precision and rounds once";

    static final OperatorCases CONV_2D = OperatorCases.of("CONV_2D", d -> {
        byte type = d.oneOf(TensorType.INT8, TensorType.INT16, TensorType.FLOAT32);
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 9);
        int channels = d.between(1, 9);
        TensorSpec x = d.tensor(type, w.input(d.between(1, 2), depth));
        TensorSpec weights = d.weights(type, d.coin() ? 0 : -1, channels, w.height, w.width, depth);
        int[] in = layer(d, x, weights, channels);
        d.result(scaled(d, x, weights, w.height * w.width * depth));
        d.operator(BuiltinOperator.CONV_2D, 3, w.conv2d(d.activation()), in);
    });

    static final OperatorCases DEPTHWISE_CONV_2D = OperatorCases.of("DEPTHWISE_CONV_2D", d -> {
        byte type = d.oneOf(TensorType.INT8, TensorType.INT16, TensorType.FLOAT32);
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 9);
        int multiplier = d.between(1, 3) == 1 ? d.between(2, 4) : 1;
        int channels = depth * multiplier;
        TensorSpec x = d.tensor(type, w.input(d.between(1, 2), depth));
        TensorSpec weights = d.weights(type, d.coin() ? 3 : -1, 1, w.height, w.width, channels);
        int[] in = perhapsWithoutBias(d, x, weights, channels);
        d.result(scaled(d, x, weights, w.height * w.width));
        d.operator(BuiltinOperator.DEPTHWISE_CONV_2D, 3, w.depthwise(multiplier, d.activation()), in);
    });

    static final OperatorCases FULLY_CONNECTED = OperatorCases.of(
                    "FULLY_CONNECTED", d -> dense(d, d.oneOf(TensorType.INT8, TensorType.INT8, TensorType.FLOAT32)))
            .roundedOtherwise(DENSE);

    /** With a bias of 64 bits. */
    static final OperatorCases FULLY_CONNECTED_INT16 = OperatorCases.of(
                    "FULLY_CONNECTED_INT16", d -> dense(d, TensorType.INT16))
            .roundedOtherwise(DENSE);

    /** With a bias of 32 bits. */
    static final OperatorCases FULLY_CONNECTED_INT16_BIAS32 = OperatorCases.of("FULLY_CONNECTED_INT16_BIAS32", d -> {
                d.narrowBiases();
                dense(d, TensorType.INT16);
            })
            .withoutOracle(
                    "TensorFlow Lite rescales these sums in double precision, and asks for an option that tells the"
                            + " bias's type");

    private static void dense(Draw d, byte type) {
        int depth = d.between(1, 50);
        int units = d.between(1, 20);
        boolean keep = d.coin();
        int rows = d.between(1, 4);
        int[] shape = keep ? new int[] {1, rows, depth} : new int[] {rows, depth};
        TensorSpec x = d.tensor(type, shape);
        TensorSpec weights = d.weights(type, d.between(1, 3) == 1 ? 0 : -1, units, depth);
        int[] in = perhapsWithoutBias(d, x, weights, units);
        d.result(scaled(d, x, weights, depth));
        d.operator(BuiltinOperator.FULLY_CONNECTED, 5, Options.fullyConnected(d.activation(), keep), in);
    }

    static final OperatorCases TRANSPOSE_CONV = OperatorCases.of("TRANSPOSE_CONV", d -> {
        byte type = d.oneOf(TensorType.INT8, TensorType.INT16, TensorType.FLOAT32);
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 6);
        int channels = d.between(1, 6);
        int height = w.height + (w.pooledHeight() - 1) * w.strideH;
        int width = w.width + (w.pooledWidth() - 1) * w.strideW;
        int outputHeight = w.padding == Options.SAME ? w.pooledHeight() * w.strideH : height;
        int outputWidth = w.padding == Options.SAME ? w.pooledWidth() * w.strideW : width;
        int batch = d.between(1, 2);
        TensorSpec x = d.tensor(type, batch, w.pooledHeight(), w.pooledWidth(), depth);
        TensorSpec weights = d.weights(type, d.coin() ? 0 : -1, channels, w.height, w.width, depth);
        int shape = d.add(TensorSpec.int32("shape", batch, outputHeight, outputWidth, channels));
        int[] in = layer(d, x, weights, channels);
        d.result(scaled(d, x, weights, w.height * w.width * depth));
        Options options = Options.transposeConv(w.padding, w.strideH, w.strideW);
        d.operator(BuiltinOperator.TRANSPOSE_CONV, 3, options, shape, in[1], in[0], in[2]);
    });

    static final OperatorCases AVERAGE_POOL_2D =
            OperatorCases.of("AVERAGE_POOL_2D", d -> pool(d, BuiltinOperator.AVERAGE_POOL_2D));

    /** More than 65,536 elements under the window, whose sum exceeds 32 bits. */
    static final OperatorCases AVERAGE_POOL_2D_WIDE = OperatorCases.of("AVERAGE_POOL_2D_WIDE", d -> {
                TensorSpec x = d.tensor(TensorType.INT16, 1, 258, 257, 1);
                boolean isPositive = d.coin();
                d.input(x, isPositive ? 32_700 : -32_768, isPositive ? 32_767 : -32_700);
                Options pool = Options.pool(Options.VALID, 1, 1, 258, 257, (byte) 0);
                d.compute(d.like(x), BuiltinOperator.AVERAGE_POOL_2D, 3, pool);
            })
            .withoutOracle("TensorFlow Lite's sum of 32 bits overflows");

    static final OperatorCases MAX_POOL_2D = OperatorCases.of("MAX_POOL_2D", d -> pool(d, BuiltinOperator.MAX_POOL_2D));

    static final List<OperatorCases> ALL = List.of(
            CONV_2D,
            DEPTHWISE_CONV_2D,
            TRANSPOSE_CONV,
            FULLY_CONNECTED,
            FULLY_CONNECTED_INT16,
            FULLY_CONNECTED_INT16_BIAS32,
            AVERAGE_POOL_2D,
            AVERAGE_POOL_2D_WIDE,
            MAX_POOL_2D);

    private LayerOperators() {}

    private static int[] layer(Draw d, TensorSpec x, TensorSpec weights, int channels) {
        TensorSpec bias = d.bias(x, weights, channels);
        boolean keepsBias = x.type() == TensorType.INT16 || d.coin();
        return new int[] {d.input(x), d.parameter(weights), keepsBias ? d.add(bias) : d.parameter(bias)};
    }

    /** As {@link #layer}, but some have no bias; TensorFlow Lite demands one of CONV_2D alone. */
    private static int[] perhapsWithoutBias(Draw d, TensorSpec x, TensorSpec weights, int channels) {
        return d.between(1, 4) == 1 ? new int[] {d.input(x), d.parameter(weights)} : layer(d, x, weights, channels);
    }

    /** An output whose range fits sums of so many products, so that few of them saturate. */
    static TensorSpec scaled(Draw d, TensorSpec x, TensorSpec weights, int products, int... shape) {
        TensorSpec y = d.tensor(x.type(), shape);
        if (x.type() == TensorType.FLOAT32) {
            return y;
        }
        float product = x.scales().get(0) * weights.scales().get(0);
        float scale = (float) (product * 60 * Math.sqrt(products) * Math.exp(d.between(-10, 10) / 10.0));
        return y.quantized(scale, y.zeroPoints().get(0));
    }

    private static void pool(Draw d, int builtin) {
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 9);
        byte type = d.oneOf(TensorType.INT8, TensorType.INT16, TensorType.FLOAT32);
        TensorSpec x = d.tensor(type, w.input(d.between(1, 2), depth));
        d.inputOfAnything(x);
        TensorSpec y = TensorSpec.of("y", type);
        boolean isFloat = type == TensorType.FLOAT32;
        TensorSpec result =
                isFloat ? y : y.quantized(x.scales().get(0), x.zeroPoints().get(0));
        d.compute(result, builtin, 2, w.pool(d.activation()));
    }
}
