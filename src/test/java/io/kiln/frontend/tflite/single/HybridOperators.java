// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Layers with float data and int8 weights. */
final class HybridOperators {
    private static final String DYNAMIC =
            "TensorFlow Lite quantizes the data at run time; TensorFlow Lite Micro has no such layers, and Kiln"
                    + " computes with floats";

    private static final OperatorCases FULLY_CONNECTED = OperatorCases.of("FULLY_CONNECTED_HYBRID", d -> {
                int depth = d.between(1, d.between(1, 5) == 1 ? 1500 : 60);
                int units = d.between(1, 12);
                int rows = d.between(1, 4);
                TensorSpec x = d.tensor(TensorType.FLOAT32, rows, depth);
                int[] in = layer(d, x, d.weights(TensorType.INT8, -1, units, depth), units);
                d.result(d.tensor(TensorType.FLOAT32));
                // What is limited does not tell how large the products were whose sum cancels.
                byte activation = depth > 60 ? Options.NO_ACTIVATION : d.activation();
                Options options = Options.fullyConnected(activation, false, d.coin());
                d.operator(BuiltinOperator.FULLY_CONNECTED, 9, options, in);
            })
            .roundedOtherwise(DYNAMIC);

    private static final OperatorCases CONV_2D =
            OperatorCases.of("CONV_2D_HYBRID", d -> convolution(d, false)).roundedOtherwise(DYNAMIC);

    private static final OperatorCases CONV_2D_OF_EQUAL_SCALES = OperatorCases.of(
                    "CONV_2D_HYBRID_EQUAL_SCALES", d -> convolution(d, true))
            .roundedOtherwise(DYNAMIC);

    private static final OperatorCases DEPTHWISE_CONV_2D = OperatorCases.of("DEPTHWISE_CONV_2D_HYBRID", d -> {
                RandomWindow w = new RandomWindow(d);
                int depth = d.between(2, 9);
                int multiplier = d.between(1, 3) == 1 ? d.between(2, 4) : 1;
                int channels = depth * multiplier;
                TensorSpec x = d.tensor(TensorType.FLOAT32, w.input(d.between(1, 2), depth));
                int[] in = layer(d, x, d.weights(TensorType.INT8, 3, 1, w.height, w.width, channels), channels);
                d.result(d.tensor(TensorType.FLOAT32));
                d.operator(BuiltinOperator.DEPTHWISE_CONV_2D, 6, w.depthwise(multiplier, d.activation()), in);
            })
            .roundedOtherwise(DYNAMIC);

    static final List<OperatorCases> ALL =
            List.of(FULLY_CONNECTED, CONV_2D, CONV_2D_OF_EQUAL_SCALES, DEPTHWISE_CONV_2D);

    private HybridOperators() {}

    private static void convolution(Draw d, boolean isEqual) {
        RandomWindow w = new RandomWindow(d);
        int depth = d.between(1, 9);
        int channels = d.between(2, 9);
        TensorSpec x = d.tensor(TensorType.FLOAT32, w.input(d.between(1, 2), depth));
        TensorSpec weights =
                d.weights(TensorType.INT8, isEqual || d.coin() ? 0 : -1, channels, w.height, w.width, depth);
        if (isEqual) {
            float[] scales = new float[channels];
            Arrays.fill(scales, weights.scales().get(0));
            weights = weights.quantized(scales, new long[channels], 0);
        }
        int[] in = layer(d, x, weights, channels);
        d.result(d.tensor(TensorType.FLOAT32));
        d.operator(BuiltinOperator.CONV_2D, 5, w.conv2d(d.activation()), in);
    }

    /** TensorFlow Lite converts what is infinite or not a number to an integer, which C++ does not define. */
    private static int[] layer(Draw d, TensorSpec x, TensorSpec weights, int channels) {
        return new int[] {d.inputOfNumbers(x), d.add(weights), d.add(d.bias(x, weights, channels))};
    }
}
