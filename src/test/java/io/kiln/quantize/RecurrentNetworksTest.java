// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.tflite.single.TfliteOracle;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Function;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recurrent layers of ONNX, which are read as one layer for each step, become integer layers, whose file TensorFlow Lite answers alike. */
class RecurrentNetworksTest {
    private static final int STEPS = 12;

    /** Weights are stored once, so that a step costs only its tables. */
    private static final int BYTES_A_STEP = 6000;

    private static final int UNITS = 16;
    private static final int INPUTS = 8;

    private static String weights(ModelBuilder model, Random random, List<Integer> dims) {
        int count = dims.stream().reduce(1, (a, b) -> a * b);
        ByteBuffer buffer = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            buffer.putFloat((float) (random.nextGaussian() * 0.4));
        }
        return model.constant(ElementType.FLOAT, dims, buffer.array());
    }

    private static Function model(String operator, int gates, int steps) {
        Random random = new Random(gates);
        ModelBuilder model = new ModelBuilder(17);
        model.input("x", ElementType.FLOAT, List.of(steps, 1, INPUTS));
        String w = weights(model, random, List.of(1, gates * UNITS, INPUTS));
        String r = weights(model, random, List.of(1, gates * UNITS, UNITS));
        String b = weights(model, random, List.of(1, 2 * gates * UNITS));
        model.node(operator, List.of("x", w, r, b), "y", Map.of("hidden_size", (long) UNITS));
        model.node("Reshape", List.of("y", model.longs(List.of(steps, UNITS))), "rows", Map.of());
        model.node("Gemm", List.of("rows", weights(model, random, List.of(UNITS, 4))), "out", Map.of());
        model.output("out", ElementType.FLOAT);
        return OnnxFrontend.read(model.build(), "model.onnx", "model", InputShapes.NONE);
    }

    @ParameterizedTest
    @CsvSource({"LSTM,4,INT8", "GRU,3,INT8", "RNN,1,INT8", "LSTM,4,INT16X8", "GRU,3,INT16X8", "RNN,1,INT16X8"})
    void haveNoFloatLayers(String operator, int gates, QuantizeMode mode) {
        Optional<String> missing = TfliteOracle.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        Function model = model(operator, gates, STEPS);
        List<Sample> samples = FloatNet.samples(model, 16, 1);
        Quantized quantized = new Quantizer(new TfliteMaker("net.tflite"), Runs.Progress.NONE)
                .quantize(model, samples, QuantizeOptions.of(mode));
        assertThat(quantized.network().plan().nodes()).noneMatch(node -> node.precision() == Precision.FLOAT);
        assertThat(quantized.quality().sqnr()).isGreaterThan(mode == QuantizeMode.INT8 ? 25 : 35);
        assertThat(quantized.network().file().orElseThrow().size()).isLessThan(STEPS * BYTES_A_STEP);
        WrittenModelTest.assertSameAnswers(quantized.network(), samples, operator);
    }
}
