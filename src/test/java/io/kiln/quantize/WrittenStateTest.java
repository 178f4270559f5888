// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.single.TfliteOracle;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Filters that remember become int8 with a state of int16, and TensorFlow Lite gives the same answers, run after run. */
class WrittenStateTest {
    private static final int INPUTS = 12;

    private final FloatNet net = new FloatNet(7);

    @ParameterizedTest
    @EnumSource(RangeMethod.class)
    void tensorflowLiteRemembersTheSame(RangeMethod method) {
        Function model = filters();
        Quantized quantized = quantized(model, QuantizeMode.INT8, method, List.of());
        assertThat(quantized.network().plan().nodes()).allMatch(node -> node.precision() == Precision.INT8);
        assertThat(quantized.function().variables())
                .extracting(v -> v.type().dtype())
                .containsOnly(DType.INT16, DType.INT32);
        assertThat(quantized.quality().sqnr()).isGreaterThan(method == RangeMethod.MINMAX ? 25 : 10);
        assertSameAnswers(model, quantized);
    }

    @Test
    void aFilterThatIsKeptFloatIsWrittenToo() {
        Function model = filters();
        Quantized quantized = quantized(model, QuantizeMode.INT8, RangeMethod.MINMAX, List.of("t*"));
        assertThat(quantized.function().variables())
                .extracting(v -> v.type().dtype())
                .containsOnly(DType.FLOAT32, DType.INT32);
        assertThat(quantized.network().missing()).isEmpty();
        assertThat(quantized(model, QuantizeMode.INT16X8, RangeMethod.MINMAX, List.of())
                        .network()
                        .missing())
                .isEmpty();
    }

    /** One with a RELU of its own, one whose RELU the zero point is, and one that shares the scale of negative numbers. */
    private Function filters() {
        Arg.Ref data = net.input(1, INPUTS);
        Arg.Ref first = net.relu(svdf(data, 2, 8, 5));
        Arg.Ref second = svdf(first, 1, 6, 10);
        Arg.Ref joined = net.bind(new Concatenate(1, 2), net.relu(svdf(second, 1, 4, 3)), net.dense(first, 4));
        return net.function(net.dense(joined, 3));
    }

    private Arg.Ref svdf(Arg.Ref data, int rank, int units, int memory) {
        int inputs = net.shape(data).dim(1);
        Arg.Ref state = net.variable(1, rank * units * memory);
        Arg.Ref slot = net.variable(new TensorType(Shape.of(1), DType.INT32));
        return net.bind(
                new Svdf(rank, 0, 0, 0),
                data,
                net.constant(0.4f, rank * units, inputs),
                net.constant(0.4f, rank * units, memory),
                net.constant(0.2f, units),
                state,
                slot,
                Constant.scalar(1),
                Constant.scalar(0),
                Constant.scalar(1),
                Constant.scalar(0));
    }

    static Quantized quantized(Function model, QuantizeMode mode, RangeMethod method, List<String> kept) {
        QuantizeOptions options = new QuantizeOptions(mode, method, Equalize.AUTO, kept, false, Limits.NONE);
        return new Quantizer(new TfliteMaker("net.tflite"), Runs.Progress.NONE)
                .quantize(model, FloatNet.samples(model, 40, 3), options);
    }

    /** What TensorFlow Lite answers, run after run, is what the reference interpreter does. */
    static void assertSameAnswers(Function model, Quantized quantized) {
        Optional<String> missing = TfliteOracle.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        List<List<Bytes>> rounds = new ArrayList<>();
        for (Sample sample : FloatNet.samples(model, 30, 5)) {
            rounds.add(Evaluation.inputs(quantized.function(), sample));
        }
        byte[] file = quantized.network().file().orElseThrow().toArray();
        List<List<TfliteOracle.Output>> answers = TfliteOracle.runAll(file, rounds);
        Function function = quantized.function();
        Interpreter.State state = Interpreter.State.initial(function);
        for (int k = 0; k < rounds.size(); k++) {
            assertThat(Interpreter.run(function, rounds.get(k), state).get(0))
                    .as("run %d", k)
                    .isEqualTo(answers.get(k).get(0).data());
        }
    }
}
