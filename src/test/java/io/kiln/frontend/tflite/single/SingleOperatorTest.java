// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operator against TensorFlow Lite, see {@link SingleOperatorCheck}. */
public class SingleOperatorTest {
    private static final int CASES = Integer.getInteger("kiln.cases", 6);
    private static final long FIRST_SEED = Long.getLong("kiln.seed", 0);

    @TempDir
    private Path folder;

    /** All operators. */
    public static Stream<OperatorCases> operators() {
        return Stream.of(
                        BasicOperators.ALL,
                        LayerOperators.ALL,
                        UnaryCases.ALL,
                        BinaryCases.ALL,
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
                        ExtremeScaleCases.ALL)
                .flatMap(List::stream);
    }

    @ParameterizedTest
    @MethodSource("operators")
    void answersAsTensorFlowLiteDoes(OperatorCases operator) {
        Optional<String> missing = TfliteOracle.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        assertThat(SingleOperatorCheck.check(operator, FIRST_SEED, CASES, folder))
                .isEmpty();
    }
}
