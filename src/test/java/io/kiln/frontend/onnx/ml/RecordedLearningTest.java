// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.ml;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Models of trees, linear models and what prepares their data answer as recorded from ONNX Runtime. */
@NeedsShared("models-more")
class RecordedLearningTest {
    /** Operators whose sums may differ in their last bits, because the runtime adds up in another order. All other models answer bit for bit. */
    private static final Set<String> SUMS = Set.of("nn.dense", "sum");

    private static final double TOLERANCE = 2e-6;

    static Stream<Path> models() throws IOException {
        try (Stream<Path> all = Files.list(SharedFolder.need("models-more"))) {
            return all.filter(folder -> folder.getFileName().toString().matches("ml.*")).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void answersAsRecorded(Path folder) throws IOException {
        Function function = OnnxFrontend.read(
                Bytes.wrap(Files.readAllBytes(folder.resolve("model.onnx"))), "model.onnx", "m", InputShapes.NONE);
        int cases = 0;
        while (Files.exists(folder.resolve("input_" + cases + ".bin"))) {
            Bytes input = Bytes.wrap(Files.readAllBytes(folder.resolve("input_" + cases + ".bin")));
            Bytes expected = Bytes.wrap(Files.readAllBytes(folder.resolve("output_" + cases + ".bin")));
            List<Bytes> inputs = new ArrayList<>();
            int at = 0;
            for (var param : function.params()) {
                inputs.add(input.part(at, (int) param.type().bytes()));
                at += (int) param.type().bytes();
            }
            List<Bytes> outputs = Interpreter.run(function, inputs);
            at = 0;
            for (int i = 0; i < outputs.size() && at < expected.size(); i++) {
                compare(
                        function,
                        function.results().get(i),
                        outputs.get(i),
                        expected.part(at, outputs.get(i).size()));
                at += outputs.get(i).size();
            }
            assertThat(at).isEqualTo(expected.size());
            cases++;
        }
        assertThat(cases).isPositive();
    }

    private static void compare(Function function, Result result, Bytes actual, Bytes expected) {
        boolean hasSums = function.bindings().stream()
                .anyMatch(binding -> SUMS.contains(binding.op().name()));
        if (!hasSums || function.types().get(result.id()).dtype() != DType.FLOAT32) {
            assertThat(actual).as(result.name()).isEqualTo(expected);
            return;
        }
        for (int at = 0; at < expected.size(); at += Float.BYTES) {
            float wanted = expected.buffer().getFloat(at);
            float given = actual.buffer().getFloat(at);
            assertThat(Float.compare(given, wanted) == 0
                            || Math.abs(given - wanted) <= TOLERANCE * (1 + Math.abs(wanted)))
                    .as("%s[%d] is %s, not %s", result.name(), at / Float.BYTES, given, wanted)
                    .isTrue();
        }
    }
}
