// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
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

/** Operators of every type are printed as Relay text and read again as the same. Functions that operators call have no text. */
class OperatorRoundTripTest {
    private static final int CASES = 6;

    @TempDir
    private Path folder;

    static Stream<OperatorCases> operators() {
        return SingleOperatorTest.operators()
                .filter(o -> TfliteFrontend.read(o.model(0), "model.tflite", "default")
                        .functions()
                        .isEmpty());
    }

    @ParameterizedTest
    @MethodSource("operators")
    void theSameFunctionComesBack(OperatorCases operator) throws IOException {
        for (long seed = 0; seed < CASES; seed++) {
            Draw draw = new Draw(seed);
            operator.draw().accept(draw);
            Function printed = TfliteFrontend.read(Bytes.wrap(draw.build()), "model.tflite", "default");
            Path text = folder.resolve("model.relay");
            Files.writeString(text, RelayPrinter.astext(printed));
            assertThat(RelayFrontend.read(text, "default")).as("seed %d", seed).isEqualTo(printed);
        }
    }
}
