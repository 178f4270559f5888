// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.layer.QnnConv2d;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Quantized uint8 becomes int8 where operators compute with it, and stays uint8 where the model's user sees it. */
class Uint8ImportTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private static TensorSpec uint8(String name, float scale, long zeroPoint, int... shape) {
        return TensorSpec.of(name, TensorType.UINT8, shape).quantized(scale, zeroPoint);
    }

    private Function single(int builtin, Options options, TensorSpec output, TensorSpec input, TensorSpec... more) {
        int[] in = new int[1 + more.length];
        in[0] = model.tensor(input);
        for (int i = 0; i < more.length; i++) {
            in[i + 1] = model.tensor(more[i]);
        }
        int y = model.tensor(output);
        model.operator(builtin, 1, options, in, y).inputs(in[0]).outputs(y);
        return model.read();
    }

    private static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    @Test
    void aConvolutionComputesInInt8BetweenInputsAndOutputsOfUint8() {
        TensorSpec weights = uint8("w", 0.25f, 100, 1, 1, 1, 2).withData((byte) 0, (byte) 255);
        Function function = single(
                BuiltinOperator.CONV_2D,
                Options.conv2d(Options.VALID, 1, 1, Options.NO_ACTIVATION, 1, 1),
                uint8("y", 1, 3, 1, 2, 2, 1),
                uint8("x", 0.5f, 7, 1, 2, 2, 2),
                weights,
                TensorSpec.int32("b", 5));
        assertThat(function.params().get(0).type().dtype()).isEqualTo(DType.UINT8);
        assertThat(function.params().get(0).quantization()).contains(new Quantization(0.5f, 7));
        assertThat(function.results().get(0).quantization()).contains(new Quantization(1, 3));
        assertThat(function.types().get(function.results().get(0).id()).dtype()).isEqualTo(DType.UINT8);
        Binding conv = function.bindings().stream()
                .filter(b -> b.op() instanceof QnnConv2d)
                .findFirst()
                .orElseThrow();
        assertThat(conv.constant(1).data().toArray()).containsExactly(-128, 127);
        assertThat(conv.constant(2).integer(0)).isEqualTo(7 - 128);
        assertThat(conv.constant(3).integer(0)).isEqualTo(100 - 128);
    }

    @Test
    void rescalingBetweenUint8AndInt8StaysOneOperator() {
        Function function = single(
                BuiltinOperator.QUANTIZE,
                Options.none(),
                TensorSpec.int8("y", 0.5f, 0, 1, 2),
                uint8("x", 0.5f, 128, 1, 2));
        assertThat(operators(function)).containsExactly("tfl.requantize");
        assertThat(function.params().get(0).type().dtype()).isEqualTo(DType.UINT8);
    }

    @Test
    void rescalingOfInt8EndsInUint8() {
        Function function = single(
                BuiltinOperator.QUANTIZE,
                Options.none(),
                uint8("y", 0.5f, 128, 1, 2),
                TensorSpec.int8("x", 0.5f, 0, 1, 2));
        assertThat(operators(function)).containsExactly("tfl.requantize");
    }

    @Test
    void bytesWithoutScaleAreMovedAsTheyAre() {
        Function function = single(
                BuiltinOperator.GATHER,
                Options.table(BuiltinOptions.GatherOptions, Options.Field.int32(0, 0)),
                TensorSpec.of("y", TensorType.UINT8, 1),
                TensorSpec.of("x", TensorType.UINT8, 3),
                TensorSpec.int32("i", 1));
        assertThat(operators(function)).containsExactly("take");
        assertThat(function.bindings().get(0).type().dtype()).isEqualTo(DType.UINT8);
    }

    @Test
    void int8AndUint8DoNotMix() {
        assertThatThrownBy(() -> single(
                        BuiltinOperator.ADD,
                        Options.add(Options.NO_ACTIVATION),
                        uint8("y", 0.5f, 0, 1, 2),
                        uint8("x", 0.5f, 0, 1, 2),
                        TensorSpec.int8("c", 0.5f, 0, 1, 2).withData((byte) 1, (byte) 2)))
                .hasMessageContaining("it mixes int8 and uint8");
    }

    @Test
    void weightsOfUint8NeedDataOfUint8() {
        assertThatThrownBy(() -> single(
                        BuiltinOperator.FULLY_CONNECTED,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        TensorSpec.float32("y", 1, 1),
                        TensorSpec.float32("x", 1, 2),
                        uint8("w", 0.5f, 128, 1, 2).withData((byte) 1, (byte) 2)))
                .hasMessageContaining("weights `w` and data `x` are not both uint8");
    }

    @Test
    void operatorsThatComputeOtherwiseInUint8AreRefused() {
        assertThatThrownBy(() -> single(
                        BuiltinOperator.RESIZE_BILINEAR,
                        Options.none(),
                        uint8("y", 0.5f, 128, 1, 4, 4, 1),
                        uint8("x", 0.5f, 128, 1, 2, 2, 1),
                        TensorSpec.int32("size", 4, 4)))
                .hasMessageContaining("RESIZE_BILINEAR");
    }
}
