// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Function;
import io.kiln.lower.RandomOperators;
import io.kiln.reference.Interpreter;
import io.kiln.reference.SharedFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real quantized models answer as in ONNX Runtime, bit for bit. */
class RealModelsTest {
    @ParameterizedTest
    @ValueSource(strings = {"micro_kws_m_static_qdq.onnx", "micro_kws_m_static_qoperator.onnx"})
    void answersAsOnnxRuntime(String name) throws IOException {
        Path file = SharedFolder.need("onnx").resolve(name);
        Function function = OnnxFrontend.read(file, "model", InputShapes.NONE);
        Bytes model = Bytes.wrap(Files.readAllBytes(file));
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
