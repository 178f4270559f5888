// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.frontend.tflite.single.TfliteOracle;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Planner;
import io.kiln.quantize.plan.Planner.Wishes;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.range.Calibration;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * TensorFlow Lite gives the bytes of quantized networks when it runs the files that Kiln writes: random networks around each operator, chains
 * of operators, and blocks of a transformer. With {@code -Dkiln.onnx=all} there are more of each.
 */
class QuantizedOperatorsTest {
    private static final boolean IS_WHOLE = "all".equals(System.getProperty("kiln.onnx"));
    private static final int SEEDS = IS_WHOLE ? 200 : 5;
    private static final int CHAINS = IS_WHOLE ? 600 : 20;
    private static final int SAMPLES = 6;

    /** Less than this, in dB, is a wrong answer rather than noise. */
    private static final double LEAST = 8;

    private static final double LEAST_OF_INT16 = 12;

    @BeforeEach
    void requireLibrary() {
        Optional<String> missing = TfliteOracle.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    }

    static Stream<Arguments> operators() {
        return RandomFloatNets.steps().keySet().stream()
                .flatMap(name ->
                        Stream.of(QuantizeMode.INT8, QuantizeMode.INT16X8).map(mode -> Arguments.of(name, mode)));
    }

    @ParameterizedTest
    @MethodSource("operators")
    void operatorsAnswerAsInTensorFlowLite(String name, QuantizeMode mode) {
        for (int seed = 0; seed < SEEDS; seed++) {
            RandomFloatNets.Draft draft = RandomFloatNets.draft(seed);
            Arg.Ref data = draft.like(draft.net().input(1, 3 + seed % 3, 4, 3));
            Arg.Ref result = RandomFloatNets.steps().get(name).of(draft, data);
            Quantized quantized = assertSameAnswers(draft.net().function(result), mode, seed);
            assertThat(quantized.quality().sqnr())
                    .as("seed %d", seed)
                    .isGreaterThan(mode == QuantizeMode.INT8 ? LEAST : LEAST_OF_INT16);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "INT16X8"})
    void chainsAnswerAsInTensorFlowLite(QuantizeMode mode) {
        for (int seed = 0; seed < CHAINS; seed++) {
            assertChain(seed, mode);
        }
    }

    /** A small result of large squares, for which TensorFlow Lite's library would end the process, stays float. */
    @Test
    void squaresBeyondTheKernelAnswerAsInTensorFlowLite() {
        assertChain(492, QuantizeMode.INT8);
    }

    private static void assertChain(int seed, QuantizeMode mode) {
        RandomFloatNets.Draft draft = RandomFloatNets.draft(seed);
        Arg.Ref data = drawn(draft, draft.like(draft.net().input(1, 8, 8, 4)), seed, 5);
        assertSameAnswers(draft.net().function(data), mode, seed);
    }

    /** So many operators of images one after the other. */
    private static Arg.Ref drawn(RandomFloatNets.Draft draft, Arg.Ref first, int seed, int count) {
        List<RandomFloatNets.Step> steps =
                new ArrayList<>(RandomFloatNets.images().values());
        Arg.Ref data = first;
        for (int i = 0; i < count; i++) {
            data = steps.get(new Random(31L * seed + i).nextInt(steps.size())).of(draft, data);
        }
        return data;
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "INT16X8"})
    void transformersAnswerAsInTensorFlowLite(QuantizeMode mode) {
        for (int seed = 0; seed < SEEDS / 5; seed++) {
            FloatNet net = new FloatNet(seed);
            Arg.Ref data = net.input(6, 16);
            Transformer block = new Transformer(net, 2);
            assertSameAnswers(net.function(block.layer(block.layer(data))), mode, seed);
        }
    }

    /** Layers of all precisions beside each other, other methods, two inputs, data of ranks 1 to 5, and float borders. */
    @Test
    void mixturesAnswerAsInTensorFlowLite() {
        for (int seed = 0; seed < CHAINS; seed++) {
            assertMixture(seed);
        }
    }

    /** Int8 becomes int16 where both scales are powers of two, which TensorFlow Lite's library adds by shifts. */
    @Test
    void powersOfTwoAnswerAsInTensorFlowLite() {
        assertMixture(85);
    }

    private static void assertMixture(int seed) {
        RangeMethod[] methods = RangeMethod.values();
        RandomFloatNets.Draft draft = RandomFloatNets.draft(seed);
        FloatNet net = draft.net();
        Shape shape = RandomFloatNets.shape(seed % 5 + 1);
        Arg.Ref first = net.input(shape.dims().stream().mapToInt(i -> i).toArray());
        Arg.Ref second = net.input(1, 4, 4, 3);
        Arg.Ref sum = net.bind(new Binary(Binary.Kind.ADD), net.bind(new Reshape(Shape.of(1, 4, 4, 3)), first), second);
        Arg.Ref data = drawn(draft, sum, seed, 4);
        Function model = net.function(data, first);
        List<Sample> samples = FloatNet.samples(model, SAMPLES, seed);
        FloatGraph graph = FloatGraph.of(model);
        Map<Integer, Precision> precisions = new HashMap<>();
        graph.nodes()
                .forEach(node -> precisions.put(
                        node.output(), List.of(Precision.values()).get(draft.between(0, 2))));
        Planner planner = new Planner(graph, Calibration.of(graph, samples, methods[seed % 4], Runs.Progress.NONE));
        QuantizedNetwork network =
                new TfliteMaker("net.tflite").make(planner.plan(new Wishes(Precision.INT8, precisions, seed % 3 == 0)));
        assertThat(network.missing()).as("seed %d", seed).isEmpty();
        WrittenModelTest.assertSameAnswers(network, samples, "seed " + seed);
    }

    private static Quantized assertSameAnswers(Function model, QuantizeMode mode, int seed) {
        List<Sample> samples = FloatNet.samples(model, SAMPLES, seed);
        Quantized quantized = new Quantizer(new TfliteMaker("net.tflite"), Runs.Progress.NONE)
                .quantize(model, samples, QuantizeOptions.of(mode));
        assertThat(quantized.network().missing()).as("seed %d", seed).isEmpty();
        WrittenModelTest.assertSameAnswers(quantized.network(), samples, "seed " + seed);
        return quantized;
    }
}
