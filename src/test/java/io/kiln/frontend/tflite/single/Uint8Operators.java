// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators on quantized uint8, as models of TensorFlow 1 have them: the cases of int8, 128 higher, and some that only uint8 has. */
final class Uint8Operators {
    private static final OperatorCases ELEMENTWISE = oneOf("ELEMENTWISE_UINT8", """
        ADD SUB MUL RELU RELU6 LEAKY_RELU PRELU LOGISTIC TANH HARD_SWISH_QUANTIZED MAXIMUM MINIMUM SELECT SELECT_V2
        """)
            .roundedOtherwise("TensorFlow Lite derives some multipliers in another precision");

    private static final OperatorCases DIV =
            OperatorCases.of("DIV", BinaryCases::divideBytes).ofUint8();

    private static final OperatorCases COMPARISONS = oneOf(
            "COMPARISONS_UINT8",
            "EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL REDUCE_MAX REDUCE_MIN ARG_MAX ARG_MIN MAX_POOL_2D");

    private static final OperatorCases MOVEMENTS = oneOf("MOVEMENTS_UINT8", """
        RESHAPE SQUEEZE EXPAND_DIMS TRANSPOSE SLICE STRIDED_SLICE SPLIT SPLIT_V PACK UNPACK CONCATENATION PAD PADV2 MIRROR_PAD
        BROADCAST_TO SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND SPACE_TO_DEPTH DEPTH_TO_SPACE GATHER GATHER_ND
        RESIZE_NEAREST_NEIGHBOR
        """);

    /** Parts of other scales than the result's, which it rescales. */
    private static final OperatorCases CONCATENATION = OperatorCases.of("CONCATENATION_RESCALED_UINT8", d -> {
        int[] shape = d.shape(1, 4);
        int count = d.between(1, 4);
        d.input(d.tensor(TensorType.UINT8, shape));
        for (int i = 1; i < count; i++) {
            d.inputOrConstant(d.tensor(TensorType.UINT8, shape));
        }
        Options options = Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 0), Field.int8(1, 0));
        d.compute(d.tensor(TensorType.UINT8), BuiltinOperator.CONCATENATION, 2, options);
    });

    private static final OperatorCases QUANTIZE = OperatorCases.of("QUANTIZE_UINT8", d -> {
        int[] shape = d.shape(1, 4);
        d.inputOfNumbers(d.tensor(d.oneOf(TensorType.FLOAT32, TensorType.UINT8), shape));
        d.compute(d.tensor(TensorType.UINT8), BuiltinOperator.QUANTIZE, 2, Options.none());
    });

    /** Layers of a network for images, one behind the other. */
    private static final OperatorCases NETWORK = OperatorCases.of("NETWORK_UINT8", d -> {
        d.unsigned();
        TensorSpec image = d.tensor(TensorType.INT8, 1, 2 * d.between(4, 7), 2 * d.between(4, 7), 3);
        int height = image.shape().get(1) / 2;
        int width = image.shape().get(2) / 2;
        int channels = 4 * d.between(1, 4);
        int classes = d.between(2, 12);
        Tensor x = new Tensor(d.input(image), image);
        Tensor first = layer(d, x, false, 3, 2, height, width, channels);
        Tensor second = layer(d, first, true, 3, 1, height, width, channels);
        Tensor third = layer(d, second, false, 1, 1, height, width, channels);
        TensorSpec sum = d.tensor(TensorType.INT8, 1, height, width, channels);
        Tensor added = new Tensor(d.add(sum), sum);
        emit(d, BuiltinOperator.ADD, Options.add((byte) 0), added.index, first.index, third.index);
        TensorSpec mean = d.tensor(TensorType.INT8, 1, 1, 1, channels)
                .quantized(sum.scales().get(0), sum.zeroPoints().get(0));
        Tensor pooled = new Tensor(d.add(mean), mean);
        Options pool = Options.pool(Options.VALID, 1, 1, height, width, (byte) 0);
        emit(d, BuiltinOperator.AVERAGE_POOL_2D, pool, pooled.index, added.index);
        Tensor logits = layer(d, pooled, false, 1, 1, 1, 1, classes);
        TensorSpec flat = TensorSpec.of("flat", TensorType.INT8, 1, classes)
                .quantized(logits.spec.scales().get(0), logits.spec.zeroPoints().get(0));
        int flattened = d.add(flat);
        int to = d.add(TensorSpec.int32("to", 1, classes));
        emit(d, BuiltinOperator.RESHAPE, Options.reshape(1, classes), flattened, logits.index, to);
        int out = d.output(TensorSpec.int8("probabilities", 1f / 256, -128, 1, classes));
        emit(d, BuiltinOperator.SOFTMAX, Options.softmax(1), out, flattened);
    });

    static final List<OperatorCases> ALL = List.of(
            NETWORK,
            LayerOperators.CONV_2D.ofUint8(),
            LayerOperators.DEPTHWISE_CONV_2D.ofUint8(),
            LayerOperators.TRANSPOSE_CONV.ofUint8(),
            LayerOperators.FULLY_CONNECTED.ofUint8(),
            LayerOperators.AVERAGE_POOL_2D.ofUint8(),
            BasicOperators.SOFTMAX.ofUint8(),
            ReductionOperators.LOG_SOFTMAX.ofUint8(),
            ReductionOperators.MEAN.ofUint8(),
            ELEMENTWISE,
            DIV,
            COMPARISONS,
            MOVEMENTS,
            CONCATENATION,
            QUANTIZE);

    private Uint8Operators() {}

    /** A tensor of the network, and where it is in the model. */
    private record Tensor(int index, TensorSpec spec) {}

    private static Tensor layer(
            Draw d, Tensor x, boolean depthwise, int kernel, int stride, int height, int width, int channels) {
        int depth = depthwise ? 1 : x.spec.shape().get(3);
        TensorSpec weights = depthwise
                ? d.weights(TensorType.INT8, -1, 1, kernel, kernel, channels)
                : d.weights(TensorType.INT8, -1, channels, kernel, kernel, depth);
        int[] in = {x.index, d.add(weights), d.add(d.bias(x.spec, weights, channels))};
        TensorSpec y = LayerOperators.scaled(d, x.spec, weights, kernel * kernel * depth, 1, height, width, channels);
        Tensor result = new Tensor(d.add(y), y);
        byte activation = d.activation();
        Options options = depthwise
                ? Options.depthwise(Options.SAME, stride, stride, 1, activation, 1, 1)
                : Options.conv2d(Options.SAME, stride, stride, activation, 1, 1);
        int builtin = depthwise ? BuiltinOperator.DEPTHWISE_CONV_2D : BuiltinOperator.CONV_2D;
        emit(d, builtin, options, result.index, in);
        return result;
    }

    private static void emit(Draw d, int builtin, Options options, int out, int... in) {
        d.model().operator(builtin, 1, options, in, new int[] {out});
    }

    /** Of some operators one at a time. */
    private static OperatorCases oneOf(String name, String operators) {
        Set<String> names = Set.of(operators.trim().split("\\s+"));
        OperatorCases[] cases = Stream.of(
                        BasicOperators.ALL,
                        LayerOperators.ALL,
                        UnaryCases.ALL,
                        BinaryCases.ALL,
                        MovementOperators.ALL,
                        BlockCases.ALL,
                        StridedSliceCases.ALL,
                        ReductionOperators.ALL)
                .flatMap(List::stream)
                .filter(c -> names.contains(c.name()))
                .map(OperatorCases::ofUint8)
                .toArray(OperatorCases[]::new);
        if (cases.length != names.size()) {
            throw new IllegalArgumentException("no cases for some of " + names);
        }
        return OperatorCases.of(name, d -> d.oneOf(cases).draw().accept(d));
    }
}
