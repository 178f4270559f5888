// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/** Layers whose weights are computed, or inputs of the model. */
final class ComputedWeightsCases {
    static final List<OperatorCases> ALL = List.of(
            LayerOperators.CONV_2D.withComputedWeights(),
            LayerOperators.DEPTHWISE_CONV_2D.withComputedWeights(),
            LayerOperators.TRANSPOSE_CONV.withComputedWeights(),
            LayerOperators.FULLY_CONNECTED.withComputedWeights(),
            LayerOperators.CONV_2D.ofUint8().withComputedWeights(),
            OperatorCases.of("ATTENTION", d -> attention(d, TensorType.FLOAT32)),
            OperatorCases.of("ATTENTION_INT8", d -> attention(d, TensorType.INT8))
                    .roundedOtherwise(LayerOperators.DENSE));

    private ComputedWeightsCases() {}

    /** Attention by FULLY_CONNECTED: the keys, and the values transposed, are weights. TensorFlow Lite limits infinite ones between the layers. */
    private static void attention(Draw d, byte type) {
        int rows = d.between(1, 5);
        int keys = d.between(1, 6);
        int depth = 2 * d.between(1, 6);
        int q = d.inputOfNumbers(d.tensor(type, rows, depth));
        TensorSpec key = d.tensor(type, 1, keys, 2, depth / 2).quantized(0.02f, 0);
        TensorSpec flat = d.tensor(type, keys, depth).quantized(0.02f, 0);
        TensorSpec value = d.tensor(type, keys, depth).quantized(0.05f, 0);
        TensorSpec turned = d.tensor(type, depth, keys).quantized(0.05f, 0);
        int[] k = {d.inputOfNumbers(key), d.add(TensorSpec.int32("flat", keys, depth))};
        int[] v = {d.inputOfNumbers(value), d.add(TensorSpec.int32("order", 1, 0))};
        int kFlat = d.add(flat);
        int vTurned = d.add(turned);
        int scores = d.add(d.tensor(type, rows, keys).quantized(0.1f, 3));
        int weights = d.add(d.tensor(type, rows, keys).quantized(1f / 256, -128));
        int out = d.output(d.tensor(type, rows, depth).quantized(0.04f, -5));
        Options dense = Options.fullyConnected((byte) 0, false);
        d.model().operator(BuiltinOperator.RESHAPE, 1, Options.reshape(keys, depth), k, kFlat);
        d.model().operator(BuiltinOperator.FULLY_CONNECTED, 5, dense, new int[] {q, kFlat}, scores);
        d.model().operator(BuiltinOperator.SOFTMAX, 2, Options.softmax(1), new int[] {scores}, weights);
        d.model().operator(BuiltinOperator.TRANSPOSE, 2, Options.none(), v, vTurned);
        d.model().operator(BuiltinOperator.FULLY_CONNECTED, 5, dense, new int[] {weights, vTurned}, out);
    }
}
