// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.type.Shape;
import io.kiln.reference.Interpreter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

class OperatorImportTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private Function read() {
        Function function = model.read();
        Verifier.verify(function);
        return function;
    }

    private static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    private static byte[] run(Function function, int... input) {
        byte[] bytes = new byte[input.length];
        for (int i = 0; i < input.length; i++) {
            bytes[i] = (byte) input[i];
        }
        return Interpreter.run(function, List.of(Bytes.wrap(bytes))).get(0).toArray();
    }

    private Function convolution(TensorSpec weights, int inputs, int channels, boolean depthwise) {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 1, 1, 4, 4, inputs));
        int w = model.tensor(weights.withData(new byte[weights.shape().stream().reduce(1, (a, b) -> a * b)]));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 2, 1, 4, 4, channels));
        model.operator(
                depthwise ? BuiltinOperator.DEPTHWISE_CONV_2D : BuiltinOperator.CONV_2D,
                3,
                depthwise
                        ? Options.depthwise(Options.SAME, 1, 1, channels / inputs, Options.NO_ACTIVATION, 2, 1)
                        : Options.conv2d(Options.SAME, 1, 1, Options.NO_ACTIVATION, 2, 1),
                new int[] {x, w, -1},
                y);
        model.inputs(x).outputs(y);
        return read();
    }

    @Test
    void depthwiseConvolutionOfOneChannelIsAnOrdinaryOne() {
        Function function = convolution(TensorSpec.int8("w", 0.1f, 0, 1, 3, 2, 5), 1, 5, true);
        Binding convolution = function.bindings().get(0);
        assertThat(((QnnConv2d) convolution.op()).kernelLayout()).isEqualTo("OHWI");
        assertThat(convolution.constant(1).type().shape()).isEqualTo(Shape.of(5, 3, 2, 1));
        assertThat(operators(function)).containsExactly("qnn.conv2d", "tfl.requantize");
    }

    @Test
    void depthwiseConvolutionKeepsItsMultiplier() {
        Function function = convolution(TensorSpec.int8("w", 0.1f, 0, 1, 3, 2, 6), 3, 6, true);
        QnnConv2d op = (QnnConv2d) function.bindings().get(0).op();
        assertThat(op.kernelLayout()).isEqualTo("HWOI");
        assertThat(op.groups()).isEqualTo(3);
        assertThat(op.window().padding()).containsExactly(2, 0, 2, 1);
        assertThat(function.bindings().get(0).constant(1).type().shape()).isEqualTo(Shape.of(3, 2, 3, 2));
    }

    @Test
    void convolutionWithAGroupPerChannelIsDepthwise() {
        Function function = convolution(TensorSpec.int8("w", 0.1f, 0, 6, 3, 2, 1), 3, 6, false);
        QnnConv2d op = (QnnConv2d) function.bindings().get(0).op();
        assertThat(op.kernelLayout()).isEqualTo("HWOI");
        assertThat(op.groups()).isEqualTo(3);
    }

    @Test
    void convolutionWithFewGroupsStaysGrouped() {
        Function function = convolution(TensorSpec.int8("w", 0.1f, 0, 6, 3, 2, 2), 4, 6, false);
        QnnConv2d op = (QnnConv2d) function.bindings().get(0).op();
        assertThat(op.kernelLayout()).isEqualTo("OHWI");
        assertThat(op.groups()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"1, 10, 127", "2, -10, 30", "3, 10, 127"})
    void activationLimitsTheOutput(byte activation, int low, int high) {
        int x = model.tensor(TensorSpec.int8("x", 0.05f, 10, 1, 3));
        int y = model.tensor(TensorSpec.int8("y", 0.05f, 10, 1, 3));
        model.operator(BuiltinOperator.ADD, 2, Options.add(activation), new int[] {x, x}, y)
                .inputs(x)
                .outputs(y);
        Function function = read();
        assertThat(function.bindings().get(1).op()).isEqualTo(new Clip(low, high));
        assertThat(run(function, -128, 10, 127)).containsExactly(low, 10, high);
    }

    @Test
    void activationThatLimitsNothingIsLeftOut() {
        int x = model.tensor(TensorSpec.int8("x", 0.05f, -128, 1, 3));
        int y = model.tensor(TensorSpec.int8("y", 0.02f, -128, 1, 3));
        model.operator(BuiltinOperator.ADD, 2, Options.add((byte) 3), new int[] {x, x}, y)
                .inputs(x)
                .outputs(y);
        assertThat(operators(read())).containsExactly("qnn.add");
    }

    @Test
    void addBroadcastsAConstant() {
        int x = model.tensor(TensorSpec.int8("x", 1f, 0, 2, 2));
        int c = model.tensor(TensorSpec.int8("c", 1f, 0, 2).withData((byte) 10, (byte) 20));
        int y = model.tensor(TensorSpec.int8("y", 1f, 0, 2, 2));
        model.operator(BuiltinOperator.ADD, 2, Options.none(), new int[] {c, x}, y)
                .inputs(x)
                .outputs(y);
        assertThat(run(read(), 1, 2, 3, 127)).containsExactly(11, 22, 13, 127);
    }

    @Test
    void fullyConnectedKeepsDimensionsAndTakesAnyRank() {
        int x = model.tensor(TensorSpec.int8("x", 1f, 0, 1, 2, 2));
        int w = model.tensor(TensorSpec.int8("w", 1f, 0, 3, 2).withData(new byte[] {1, 0, 0, 1, 1, 1}));
        int b = model.tensor(TensorSpec.int32("b", 0, 0, 5));
        int y = model.tensor(TensorSpec.int8("y", 1f, 0, 1, 2, 3));
        model.operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        5,
                        Options.fullyConnected(Options.NO_ACTIVATION, true),
                        new int[] {x, w, b},
                        y)
                .inputs(x)
                .outputs(y);
        Function function = read();
        assertThat(operators(function))
                .containsExactly("reshape", "qnn.dense", "nn.bias_add", "tfl.requantize", "reshape");
        assertThat(run(function, 1, 2, 3, 4)).containsExactly(1, 2, 8, 3, 4, 12);
    }

    @Test
    void reshapeFillsInADimension() {
        int x = model.tensor(TensorSpec.int8("x", 1f, 0, 2, 3));
        int shape = model.tensor(TensorSpec.int32("shape", 3, -1));
        int y = model.tensor(TensorSpec.int8("y", 1f, 0, 3, 2));
        int z = model.tensor(TensorSpec.int8("z", 1f, 0, 6));
        model.operator(BuiltinOperator.RESHAPE, 1, Options.none(), new int[] {x, shape}, y)
                .operator(BuiltinOperator.RESHAPE, 1, Options.reshape(-1), new int[] {y}, z)
                .inputs(x)
                .outputs(z);
        assertThat(run(read(), 1, 2, 3, 4, 5, 6)).containsExactly(1, 2, 3, 4, 5, 6);
    }

    @Test
    void quantizeChangesTheScaleAndRoundsHalvesUpInTheHighMultiply() {
        int x = model.tensor(TensorSpec.int8("x", 0.5f, 10, 4));
        int y = model.tensor(TensorSpec.int8("y", 1f, -5, 4));
        model.operator(BuiltinOperator.QUANTIZE, 2, Options.none(), new int[] {x}, y)
                .inputs(x)
                .outputs(y);
        assertThat(run(read(), 10, 13, 7, 127)).containsExactly(-5, -3, -6, 54);
    }

    @Test
    void quantizeRoundsHalvesAwayFromZeroAndSaturates() {
        int x = model.tensor(TensorSpec.float32("x", 5));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 1, 5));
        int z = model.tensor(TensorSpec.float32("z", 5));
        model.operator(BuiltinOperator.QUANTIZE, 1, Options.none(), new int[] {x}, y)
                .operator(BuiltinOperator.DEQUANTIZE, 2, Options.none(), new int[] {y}, z)
                .inputs(x)
                .outputs(y, z);
        Bytes input = Bytes.wrap(LittleEndian.ofFloats(0.25f, -0.25f, 0.2f, 1e30f, Float.NEGATIVE_INFINITY));
        List<Bytes> results = Interpreter.run(read(), List.of(input));
        assertThat(results.get(0).toArray()).containsExactly(2, 0, 1, 127, -128);
        assertThat(results.get(1).toArray()).isEqualTo(LittleEndian.ofFloats(0.5f, -0.5f, 0f, 63f, -64.5f));
    }

    @Test
    void tensorWithoutANameIsCalledByItsIndex() {
        int x = model.tensor(TensorSpec.of("", TensorType.FLOAT32, 2));
        int y = model.tensor(TensorSpec.of("", TensorType.FLOAT32, 2));
        model.operator(BuiltinOperator.ADD, 1, Options.none(), new int[] {x, x}, y)
                .inputs(x)
                .outputs(y);
        Function function = read();
        assertThat(function.params().get(0).name()).isEqualTo("tensor_0");
        assertThat(function.results().get(0).name()).isEqualTo("tensor_1");
    }
}
