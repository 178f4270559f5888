// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.base.DrawnCases;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operator against TensorFlow Lite, see {@link SingleOperatorCheck}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class SingleOperatorTest {
    private static final int CASES = DrawnCases.atLeast(6);
    private static final long FIRST_SEED = Long.getLong("kiln.seed", 0);

    /** Models in one program; with more, the compiler takes longer for each. */
    private static final int TOGETHER = 60;

    @TempDir
    private Path folder;

    /** What is wrong with the operators checked so far, by name. */
    private final Map<String, List<String>> failures = new HashMap<>();

    /** All operators. */
    public static Stream<OperatorCases> operators() {
        return Stream.of(
                        BasicOperators.ALL,
                        LayerOperators.ALL,
                        HybridOperators.ALL,
                        UnaryCases.ALL,
                        BinaryCases.ALL,
                        FunctionCases.ALL,
                        OrderCases.ALL,
                        RepeatCases.ALL,
                        StablehloCases.ALL,
                        MovementOperators.ALL,
                        BlockCases.ALL,
                        StridedSliceCases.ALL,
                        ReductionOperators.ALL,
                        RecurrentOperators.ALL,
                        SequenceOperators.ALL,
                        DetectionCases.ALL,
                        ControlFlowOperators.ALL,
                        ComputedWeightsCases.ALL,
                        Uint8Operators.ALL,
                        SignalOperators.ALL,
                        FilterBankCases.ALL,
                        ExtremeScaleCases.ALL,
                        StraddlingScaleCases.ALL)
                .flatMap(List::stream);
    }

    /** Operators that TensorFlow Lite has and TensorFlow Lite Micro lacks, or has for fewer types. */
    public static Stream<OperatorCases> ofLite() {
        return Stream.of(FunctionCases.ALL, OrderCases.ALL, RepeatCases.ALL, StablehloCases.ALL)
                .flatMap(List::stream);
    }

    /** The cases that {@code -Dkiln.operator} names, or all. */
    static Stream<OperatorCases> asked() {
        String name = System.getProperty("kiln.operator", "");
        return operators().filter(operator -> name.isEmpty() || name.equals(operator.name()));
    }

    @ParameterizedTest
    @MethodSource("asked")
    void answersAsTensorFlowLiteDoes(OperatorCases operator) {
        Optional<String> missing = TfliteOracle.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        if (!failures.containsKey(operator.name())) {
            failures.putAll(SingleOperatorCheck.check(from(operator), FIRST_SEED, CASES, folder));
        }
        assertThat(failures.get(operator.name())).isEmpty();
    }

    /** An operator and those after it that fit into its program. */
    private static List<OperatorCases> from(OperatorCases operator) {
        return operators()
                .dropWhile(other -> !other.name().equals(operator.name()))
                .limit(Math.max(1, TOGETHER / CASES))
                .toList();
    }
}
