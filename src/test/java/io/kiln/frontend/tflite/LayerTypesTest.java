// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.legality.Legality;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

class LayerTypesTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();

    private Function dense(TensorSpec data, TensorSpec weights, TensorSpec output, TensorSpec... bias) {
        int x = model.tensor(data);
        int w = model.tensor(weights);
        int b = bias.length == 0 ? -1 : model.tensor(bias[0]);
        int y = model.tensor(output);
        model.operator(
                        BuiltinOperator.FULLY_CONNECTED,
                        3,
                        Options.fullyConnected(Options.NO_ACTIVATION, false),
                        new int[] {x, w, b},
                        y)
                .inputs(inputs(new int[] {x, w, b}, data, weights, bias.length == 0 ? weights : bias[0]))
                .outputs(y);
        return model.read();
    }

    private static int[] inputs(int[] indices, TensorSpec... tensors) {
        return IntStream.range(0, indices.length)
                .filter(i -> indices[i] >= 0 && !tensors[i].isConstant())
                .map(i -> indices[i])
                .toArray();
    }

    @Test
    void packedWeightsAreSignedHalfBytesLowHalfFirst() {
        TensorSpec weights = TensorSpec.of("w", TensorType.INT4, 1, 5)
                .quantized(0.5f, 0)
                .withData((byte) 0x7F, (byte) 0x82, (byte) 0x03);
        Function function = dense(TensorSpec.int8("x", 0.5f, 0, 1, 5), weights, TensorSpec.int8("y", 0.5f, 0, 1, 1));
        Constant weight = function.bindings().get(0).constant(1);
        assertThat(weight.type().dtype()).isEqualTo(DType.INT8);
        assertThat(weight.data().toArray()).containsExactly(-1, 7, 2, -8, 3);
    }

    @Test
    void halfPrecisionConstantsAreExactInSinglePrecision() {
        short[] halves = {0x3C00, (short) 0xC000, 0x0001, 0x7BFF, 0x3555};
        ByteBuffer data = ByteBuffer.allocate(10).order(ByteOrder.LITTLE_ENDIAN);
        for (short half : halves) {
            data.putShort(half);
        }
        int x = model.tensor(TensorSpec.float32("x", 1, 5));
        int packed = model.tensor(TensorSpec.of("w", TensorType.FLOAT16, 1, 5).withData(data.array()));
        int w = model.tensor(TensorSpec.float32("w32", 1, 5));
        int y = model.tensor(TensorSpec.float32("y", 1, 1));
        Options options = Options.fullyConnected(Options.NO_ACTIVATION, false);
        Function function = model.operator(BuiltinOperator.DEQUANTIZE, 3, Options.none(), new int[] {packed}, w)
                .operator(BuiltinOperator.FULLY_CONNECTED, 3, options, new int[] {x, w, -1}, y)
                .inputs(x)
                .outputs(y)
                .read();
        Constant weight = function.bindings().get(0).constant(1);
        assertThat(List.of(weight.real(0), weight.real(1), weight.real(2), weight.real(3), weight.real(4)))
                .containsExactly(1f, -2f, (float) Math.pow(2, -24), 65504f, 0.33325195f);
    }

    @Test
    void int8WeightsOfFloatDataStayInt8() {
        TensorSpec weights = TensorSpec.int8("w", 0.5f, 0, 2, 2).withData((byte) 1, (byte) -2, (byte) 3, (byte) 40);
        Function function = dense(TensorSpec.float32("x", 1, 2), weights, TensorSpec.float32("y", 1, 2));
        assertThat(function.bindings().get(0).op()).isEqualTo(new QnnDense(2, DType.FLOAT32));
        Bytes answer = Interpreter.run(
                        function, List.of(Constant.vector(10f, 100f).data()))
                .get(0);
        assertThat(answer.buffer().getFloat(0)).isEqualTo(-95f);
        assertThat(answer.buffer().getFloat(4)).isEqualTo(2015f);
    }

    @ParameterizedTest
    @CsvSource({"INT32, INT32", "INT64, INT64", ", INT32"})
    void int16IsSummedInTheTypeOfItsBias(DType bias, DType sum) {
        TensorSpec x = TensorSpec.of("x", TensorType.INT16, 1, 2).quantized(0.5f, 0);
        TensorSpec y = TensorSpec.of("y", TensorType.INT16, 1, 1).quantized(0.5f, 0);
        TensorSpec w = TensorSpec.int8("w", 0.5f, 0, 1, 2).withData((byte) 1, (byte) 2);
        TensorSpec[] biases = bias == null
                ? new TensorSpec[0]
                : new TensorSpec[] {
                    TensorSpec.of("b", bias == DType.INT64 ? TensorType.INT64 : TensorType.INT32, 1)
                            .withData(new byte[bias.bytes()])
                };
        assertThat(dense(x, w, y, biases).bindings().get(0).op()).isEqualTo(new QnnDense(1, sum));
    }

    @Test
    void biasesBeyondTheReferenceKernelsReachAreRefused() {
        TensorSpec x = TensorSpec.of("x", TensorType.INT16, 1, 2).quantized(0.5f, 0);
        TensorSpec y = TensorSpec.of("y", TensorType.INT16, 1, 1).quantized(0.5f, 0);
        TensorSpec w = TensorSpec.int8("w", 0.5f, 0, 1, 2).withData((byte) 1, (byte) 2);
        TensorSpec b = TensorSpec.of("b", TensorType.INT64, 1)
                .withData((byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 0, (byte) 1, (byte) 0);
        assertThatThrownBy(() -> Legality.verify(dense(x, w, y, b)))
                .hasMessageContaining("operator #0")
                .hasMessageContaining("a bias of nn.bias_add is 281474976710656; expected -2^46 to 2^46");
    }

    @Test
    void wrongTypesAndZeroPointsAreToldAtOnce() {
        TensorSpec x = TensorSpec.of("x", TensorType.INT16, 1, 2).quantized(0.5f, 7);
        TensorSpec y = TensorSpec.int8("y", 0.5f, 0, 1, 1);
        TensorSpec w = TensorSpec.float32("w", 1, 2).withData(new byte[8]);
        assertThatThrownBy(() -> dense(x, w, y))
                .hasMessageContaining("`x` has zero point 7; expected zero point 0 for int16")
                .hasMessageContaining("element type int8 of `y`")
                .hasMessageContaining("weights `w` are float32");
    }

    @Test
    void depthwiseConvolutionsOfInt16NeedBiasesOfInt64() {
        int x = model.tensor(TensorSpec.of("x", TensorType.INT16, 1, 2, 2, 2).quantized(0.5f, 0));
        int w = model.tensor(TensorSpec.int8("w", 0.5f, 0, 1, 1, 1, 2).withData((byte) 1, (byte) 2));
        int b = model.tensor(TensorSpec.int32("b", 1, 2));
        int y = model.tensor(TensorSpec.of("y", TensorType.INT16, 1, 2, 2, 2).quantized(0.5f, 0));
        Options options = Options.depthwise(Options.VALID, 1, 1, 1, Options.NO_ACTIVATION, 1, 1);
        model.operator(BuiltinOperator.DEPTHWISE_CONV_2D, 3, options, new int[] {x, w, b}, y)
                .inputs(x)
                .outputs(y);
        assertThatThrownBy(model::read).hasMessageContaining("bias `b` is int32; expected int64 with int16 data");
    }

    @Test
    void depthwiseConvolutionsOfInt16WithoutBiasAreSummedIn64Bits() {
        int x = model.tensor(TensorSpec.of("x", TensorType.INT16, 1, 2, 2, 2).quantized(0.5f, 0));
        int w = model.tensor(TensorSpec.int8("w", 0.5f, 0, 1, 1, 1, 2).withData((byte) 1, (byte) 2));
        int y = model.tensor(TensorSpec.of("y", TensorType.INT16, 1, 2, 2, 2).quantized(0.5f, 0));
        Options options = Options.depthwise(Options.VALID, 1, 1, 1, Options.NO_ACTIVATION, 1, 1);
        Function function = model.operator(BuiltinOperator.DEPTHWISE_CONV_2D, 3, options, new int[] {x, w}, y)
                .inputs(x)
                .outputs(y)
                .read();
        assertThat(((QnnConv2d) function.bindings().get(0).op()).outDtype()).isEqualTo(DType.INT64);
    }

    @Test
    void computedWeightsHaveTheDatasType() {
        assertThatThrownBy(() -> dense(
                        TensorSpec.float32("x", 1, 2),
                        TensorSpec.int8("w", 0.5f, 0, 1, 2),
                        TensorSpec.float32("y", 1, 1)))
                .hasMessageContaining("weights `w` is not constant");
    }

    @Test
    void computedBiasesOfInt16AreRefused() {
        assertThatThrownBy(() -> dense(
                        TensorSpec.of("x", TensorType.INT16, 1, 2).quantized(0.5f, 0),
                        TensorSpec.int8("w", 0.5f, 0, 1, 2).withData((byte) 1, (byte) 2),
                        TensorSpec.of("y", TensorType.INT16, 1, 1).quantized(0.5f, 0),
                        TensorSpec.of("b", TensorType.INT64, 1)))
                .hasMessageContaining("bias `b` is not constant");
    }
}
