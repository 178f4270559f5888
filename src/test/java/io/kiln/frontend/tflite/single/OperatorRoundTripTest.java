// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Operators of every type are printed as Relay text and read again as the same. */
class OperatorRoundTripTest {
    private static final int CASES = 6;

    @TempDir
    private Path folder;

    static Stream<OperatorCases> operators() {
        return SingleOperatorTest.operators();
    }

    /** Those that call functions, or remember. */
    static Stream<OperatorCases> controlFlow() {
        return ControlFlowOperators.ALL.stream();
    }

    @ParameterizedTest
    @MethodSource("operators")
    void theSameFunctionComesBack(OperatorCases operator) throws IOException {
        for (long seed = 0; seed < CASES; seed++) {
            Function printed = imported(operator, seed);
            assertThat(RelayFrontend.read(text(printed), "default"))
                    .as("seed %d", seed)
                    .isEqualTo(printed);
        }
    }

    @ParameterizedTest
    @MethodSource("controlFlow")
    void theSameFilesAreGenerated(OperatorCases operator) throws IOException {
        for (long seed = 0; seed < CASES; seed++) {
            Function printed = imported(operator, seed);
            CompileRequest request = RequestDraft.of(Path.of("model"), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                    .build();
            assertThat(ModelCompiler.compile(request, RelayFrontend.read(text(printed), "default"))
                            .library())
                    .as("seed %d", seed)
                    .isEqualTo(ModelCompiler.compile(request, printed).library());
        }
    }

    private static Function imported(OperatorCases operator, long seed) {
        Draw draw = new Draw(seed);
        operator.draw().accept(draw);
        return TfliteFrontend.read(Bytes.wrap(draw.build()), "model.tflite", "default");
    }

    private Path text(Function function) throws IOException {
        return Files.writeString(folder.resolve("model.relay"), RelayPrinter.astext(function));
    }
}
