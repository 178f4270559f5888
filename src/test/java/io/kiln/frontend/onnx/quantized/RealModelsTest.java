// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Real quantized models answer as in ONNX Runtime, bit for bit. */
class RealModelsTest {
    private static final List<String> MODELS =
            List.of("micro_kws_m_static_qdq.onnx", "micro_kws_m_static_qoperator.onnx");

    @TempDir
    private Path folder;

    static List<String> models() {
        return MODELS;
    }

    @Test
    @NeedsShared("onnx")
    void theirCodeOnThisMachineAnswersAsOnnxRuntime() throws IOException {
        RuntimeComparison comparison = new RuntimeComparison(folder);
        for (int i = 0; i < MODELS.size(); i++) {
            comparison.add(i, new OnnxDraw.Model(MODELS.get(i), file(MODELS.get(i))), 1);
        }
        comparison.assertAnswers();
    }

    private static Bytes file(String name) throws IOException {
        return Bytes.wrap(Files.readAllBytes(SharedFolder.need("onnx").resolve(name)));
    }

    @ParameterizedTest
    @MethodSource("models")
    @NeedsShared("onnx")
    void theInterpreterAnswersAsOnnxRuntime(String name) throws IOException {
        Bytes model = file(name);
        Function function = OnnxFrontend.read(model, name, "model", InputShapes.NONE);
        for (int seed = 0; seed < 20; seed++) {
            List<Bytes> inputs = new ArrayList<>();
            for (var param : function.params()) {
                inputs.add(RandomOperators.input(param.type(), seed));
            }
            assertThat(Interpreter.run(function, inputs))
                    .as("sample %d", seed)
                    .isEqualTo(OnnxRuntime.run(model, function.params(), inputs));
        }
    }
}
