// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.tflite.single.OperatorCases;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.op.OperatorClasses;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Which operators {@link LoweringPropertyTest} draws. Another operator is drawn, or it gets a line with the reason here. */
class DrawnOperatorsTest {
    private static final long CASES = 1500;
    private static final int SEEDS = 6;

    /** Operators that are not drawn, by reason; SingleOperatorTest runs the C of those that TensorFlow Lite has. */
    private static final Map<String, List<String>> NOT_DRAWN = Map.of(
            "has variables or calls functions, which loops of one operator alone do not show",
            List.of(
                    "CircularBuffer",
                    "If",
                    "Lstm",
                    "RefWrite",
                    "SignalDelay",
                    "SignalFrame",
                    "SignalOverlapAdd",
                    "SignalStack",
                    "Svdf",
                    "While"),
            "belongs to a family without random draws: its C is compared for whole tensors, not for ranges of rows",
            List.of(
                    "ArgReduce",
                    "DetectionPostprocess",
                    "FilterBankAccumulate",
                    "FilterBankGainControl",
                    "FilterBankLog",
                    "FilterBankSpectralSubtraction",
                    "FilterBankSquareRoot",
                    "SignalAutoScale",
                    "SignalEnergy",
                    "SignalFft",
                    "SignalWindow",
                    "TflBatchMatmul",
                    "TflProduct",
                    "TflSum"),
            "computes an element from those of the same place, in the loops that Binary and TflRequantize have",
            List.of(
                    "Cast",
                    "Full",
                    "LeakyRelu",
                    "TflAddN",
                    "TflLookup",
                    "TflLookup16",
                    "TflSigmoid16",
                    "Unary",
                    "Where"),
            "moves no element",
            List.of("Copy", "Reshape"),
            "only Relay text has it: CanonicalElementsTest and RoundedOnceTest run its C",
            List.of("FixedPointMultiply", "QnnRequantize"),
            "only ONNX models have it",
            List.of(
                    "BlockDense",
                    "OnnxAveragePool",
                    "OnnxRequantize",
                    "OnnxResize2d",
                    "OnnxSoftmax",
                    "PairLookup",
                    "Reinterpret",
                    "TreeEnsemble"),
            "only TensorFlow Lite's rounding has it: SingleOperatorTest and RecurrentInQemuTest run its C",
            List.of("TflRealRequantize"),
            "its C is the user's: CustomOperatorTest runs it",
            List.of("CustomCall"),
            "an NPU computes it, or left it in memory: EthosUFlowTest runs the C around it",
            List.of("EthosU", "EthosUTensor"));

    @Test
    void everyOtherOperatorIsDrawn() {
        Set<String> drawn = operators(LongStream.range(0, CASES).mapToObj(RandomOperators::mixed));
        Map<String, String> reasons = NOT_DRAWN.entrySet().stream()
                .flatMap(group -> group.getValue().stream().map(name -> Map.entry(name, group.getKey())))
                .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
        Set<String> undrawn = OperatorClasses.all().stream()
                .map(Class::getSimpleName)
                .filter(name -> !drawn.contains(name))
                .collect(toCollection(TreeSet::new));
        assertThat(undrawn).isEqualTo(new TreeSet<>(reasons.keySet()));
    }

    @Test
    void whatIsNotDrawnRunsElsewhere() {
        Set<String> run = operators(SingleOperatorTest.operators().flatMap(DrawnOperatorsTest::functions));
        Set<String> others = new HashSet<>();
        OperatorClasses.all().stream()
                .map(Class::getSimpleName)
                .filter(name -> !run.contains(name))
                .forEach(others::add);
        assertThat(others)
                .containsExactlyInAnyOrder(
                        "BlockDense",
                        "CustomCall",
                        "EthosU",
                        "EthosUTensor",
                        "FixedPointMultiply",
                        "OnnxAveragePool",
                        "OnnxRequantize",
                        "OnnxResize2d",
                        "OnnxSoftmax",
                        "PairLookup",
                        "QnnRequantize",
                        "TreeEnsemble");
    }

    private static Stream<Function> functions(OperatorCases operator) {
        List<TfliteRounding> roundings = operator.kernels() == OperatorCases.Kernels.ROUNDED_OTHERWISE
                ? List.of(TfliteRounding.values())
                : List.of(TfliteRounding.MICRO);
        return roundings.stream()
                .flatMap(rounding ->
                        LongStream.range(0, SEEDS).mapToObj(seed -> operator.function(seed, rounding, "case")));
    }

    private static Set<String> operators(Stream<Function> functions) {
        return functions
                .flatMap(function -> function.bindings().stream())
                .map(Binding::op)
                .map(op -> op.getClass().getSimpleName())
                .collect(toCollection(HashSet::new));
    }
}
