// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Variable;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import io.kiln.target.TestTargets;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Long short-term memory becomes int8 with a cell of int16, and TensorFlow Lite gives the same answers, run after run. */
class WrittenMemoryTest {
    private static final int ROUNDS = 5;
    private static final List<String> TARGETS =
            List.of(TestTargets.HOST, TestTargets.M4, TestTargets.M55, TestTargets.M0);

    /** A layer of random size. */
    record Layer(int batch, int steps, int inputs, int units, boolean timeMajor, float clip, float weights, long seed) {
        /** Whether a rounding grows from step to step, so that float and integers soon have nothing in common. */
        boolean isChaotic() {
            return weights * weights * units > 1;
        }

        static Layer random(int seed) {
            Random random = new Random(seed);
            return new Layer(
                    1 + random.nextInt(2),
                    1 + random.nextInt(6),
                    1 + random.nextInt(20),
                    1 + random.nextInt(40),
                    random.nextBoolean(),
                    seed % 3 == 0 ? 0.75f : 0,
                    List.of(0.1f, 0.4f, 1.5f, 4f).get(seed % 4),
                    seed);
        }
    }

    /** The C of all layers, for several cores, in one program. */
    @Test
    void theImageRemembersTheSame(@TempDir Path folder) {
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Bytes>> inputs = new ArrayList<>();
        List<List<Bytes>> expected = new ArrayList<>();
        for (Layer layer : layers().toList()) {
            Function model = model(layer);
            Function function = WrittenStateTest.quantized(model, QuantizeMode.INT8, RangeMethod.MINMAX, List.of())
                    .function();
            String target = TARGETS.get(models.size() % TARGETS.size());
            ModelLibrary library = ModelCompiler.compile(
                            RequestDraft.of(Path.of("net"), target)
                                    .name("net" + models.size())
                                    .build(),
                            function)
                    .library();
            models.add(library.metadata());
            artifacts.add(library.artifacts().artifacts());
            Interpreter.State state = Interpreter.State.initial(function);
            List<Bytes> own = new ArrayList<>();
            List<Bytes> answers = new ArrayList<>();
            for (Sample sample : FloatNet.samples(model, ROUNDS, 11)) {
                own.addAll(Evaluation.inputs(function, sample));
                answers.addAll(Interpreter.run(function, Evaluation.inputs(function, sample), state));
            }
            inputs.add(own);
            expected.add(answers);
        }
        ByteBuffer answers = HostProgram.build(folder, models, artifacts)
                .run(inRounds(inputs))
                .buffer();
        for (Bytes answer : inRounds(expected)) {
            byte[] actual = new byte[answer.size()];
            answers.get(actual);
            assertThat(Bytes.wrap(actual)).isEqualTo(answer);
        }
        assertThat(answers.hasRemaining()).isFalse();
    }

    private static List<Bytes> inRounds(List<List<Bytes>> byModel) {
        return IntStream.range(0, ROUNDS)
                .boxed()
                .flatMap(round -> byModel.stream().map(model -> model.get(round)))
                .toList();
    }

    static Stream<Layer> layers() {
        return Stream.iterate(1, seed -> seed + 1).limit(12).map(Layer::random);
    }

    @ParameterizedTest
    @MethodSource("layers")
    void tensorflowLiteRemembersTheSame(Layer layer) {
        Function model = model(layer);
        Quantized quantized = WrittenStateTest.quantized(model, QuantizeMode.INT8, RangeMethod.MINMAX, List.of());
        assertThat(quantized.network().plan().nodes()).allMatch(node -> node.precision() == Precision.INT8);
        assertThat(lstm(quantized.function()).arithmetic()).isEqualTo(Lstm.Arithmetic.LIBRARY);
        assertThat(quantized.function().variables())
                .extracting(v -> v.type().dtype())
                .containsExactlyInAnyOrder(DType.INT8, DType.INT16);
        if (!layer.isChaotic()) {
            assertThat(quantized.quality().sqnr()).isGreaterThan(20);
        }
        WrittenStateTest.assertSameAnswers(model, quantized);
    }

    @Test
    void relayTextKeepsItsArithmetic() {
        Function function = WrittenStateTest.quantized(
                        model(Layer.random(2)), QuantizeMode.INT8, RangeMethod.MINMAX, List.of())
                .function();
        RelayPrinter.Module module = RelayPrinter.withParameters(function);
        Function read = RelayFrontend.read(
                Bytes.ofText(module.text()),
                "net.relay",
                Optional.of(ParameterFile.write(module.parameters())),
                "net.params",
                "net");
        assertThat(lstm(read)).isEqualTo(lstm(function));
    }

    @ParameterizedTest
    @EnumSource(
            value = QuantizeMode.class,
            names = {"INT8", "INT16X8"})
    void whatIsKeptFloatIsWrittenToo(QuantizeMode mode) {
        Quantized quantized = WrittenStateTest.quantized(
                model(Layer.random(5)),
                mode,
                RangeMethod.MINMAX,
                mode == QuantizeMode.INT8 ? List.of("t3") : List.of());
        assertThat(lstm(quantized.function()).arithmetic()).isEqualTo(Lstm.Arithmetic.MICRO);
        assertThat(quantized.function().variables())
                .extracting(v -> v.type().dtype())
                .containsOnly(DType.FLOAT32);
        assertThat(quantized.network().missing()).isEmpty();
        assertThat(reason(quantized))
                .isEqualTo(
                        mode == QuantizeMode.INT8
                                ? "asked for by name, or chosen by the search"
                                : "TensorFlow Lite quantizes it with data of int8 only");
    }

    /** All gates are open, so the cell counts the steps. */
    @Test
    void aCellThatIntegersDoNotHoldStaysFloat() {
        Layer layer = new Layer(1, 2, 3, 4, false, 0, 0.1f, 1);
        Quantized counting =
                WrittenStateTest.quantized(model(layer, 20), QuantizeMode.INT8, RangeMethod.MINMAX, List.of());
        assertThat(reason(counting)).startsWith("its cell goes up to ").endsWith("; integers hold 64");
        assertThat(counting.network().missing()).isEmpty();
    }

    @Test
    void aStateThatDoesNotBeginWithZerosStaysFloat() {
        Function model = model(Layer.random(5));
        byte[] one = {0, 0, (byte) 0x80, 0x3f};
        List<Variable> variables = model.variables().stream()
                .map(v -> new Variable(v.id(), v.name(), v.type(), Bytes.wrap(repeated(one, (int)
                        v.type().bytes()))))
                .toList();
        Quantized quantized = WrittenStateTest.quantized(
                model.withVariables(variables), QuantizeMode.INT8, RangeMethod.MINMAX, List.of());
        assertThat(reason(quantized)).isEqualTo("its state does not begin with zeros");
        assertThat(quantized.function().variables())
                .allMatch(v -> v.initial().buffer().get(3) == 0x3f);
        assertThat(quantized.network().missing()).containsExactly("tfl.unidirectional_sequence_lstm");
    }

    private static byte[] repeated(byte[] pattern, int size) {
        byte[] all = new byte[size];
        for (int i = 0; i < size; i++) {
            all[i] = pattern[i % pattern.length];
        }
        return all;
    }

    private static String reason(Quantized quantized) {
        return quantized.network().plan().nodes().get(0).reason().orElseThrow();
    }

    private static Lstm lstm(Function function) {
        return function.bindings().stream()
                .map(Binding::op)
                .filter(Lstm.class::isInstance)
                .map(Lstm.class::cast)
                .findFirst()
                .orElseThrow();
    }

    /** A layer, and a fully connected one for all of its steps. */
    static Function model(Layer layer) {
        return model(layer, 0);
    }

    /** The same with the same bias for all units and gates; random ones if it is 0. */
    private static Function model(Layer layer, float bias) {
        FloatNet net = new FloatNet(layer.seed);
        int first = layer.timeMajor ? layer.steps : layer.batch;
        int second = layer.timeMajor ? layer.batch : layer.steps;
        Arg.Ref data = net.input(first, second, layer.inputs);
        List<Arg> args = new ArrayList<>(List.of(data));
        Arg.Ref hidden = net.variable(layer.batch, layer.units);
        Arg.Ref cell = net.variable(layer.batch, layer.units);
        for (int gate = 0; gate < Lstm.GATES; gate++) {
            args.add(net.constant(layer.weights, layer.units, layer.inputs));
        }
        for (int gate = 0; gate < Lstm.GATES; gate++) {
            args.add(net.constant(layer.weights, layer.units, layer.units));
        }
        for (int gate = 0; gate < Lstm.GATES; gate++) {
            float[] same = new float[layer.units];
            Arrays.fill(same, bias);
            args.add(bias == 0 ? net.constant(0.3f, layer.units) : Constant.vector(same));
        }
        args.addAll(Arrays.asList(hidden, cell, unused(), unused()));
        Arg.Ref result = net.bind(new Lstm(layer.timeMajor, 0, 0, 3, 0, layer.clip), args.toArray(Arg[]::new));
        Arg.Ref rows = net.bind(new Reshape(Shape.of(layer.batch * layer.steps, layer.units)), result);
        return net.function(net.dense(rows, 3));
    }

    private static Constant unused() {
        int[] ones = new int[Lstm.RESCALINGS];
        Arrays.fill(ones, 1);
        return Constant.vector(ones);
    }
}
