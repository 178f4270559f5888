// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operators on the bits of integers answer as in ONNX Runtime, in the interpreter and as C. */
class BitwiseTest {
    private static final List<ElementType> TYPES =
            List.of(ElementType.INT8, ElementType.UINT8, ElementType.INT16, ElementType.INT32, ElementType.INT64);

    @TempDir
    private Path folder;

    @Test
    void answerAsInOnnxRuntime() {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (ElementType type : TYPES) {
            Bytes file = model(type);
            Function function = OnnxFrontend.read(file, "m.onnx", type.text(), InputShapes.NONE);
            List<Bytes> data = List.of(
                    RandomOperators.input(function.params().get(0).type(), 1),
                    RandomOperators.input(function.params().get(1).type(), 2));
            List<Bytes> answers = OnnxRuntime.run(file, function.params(), data);
            assertThat(Interpreter.run(function, data)).as(type.text()).isEqualTo(answers);
            answers.forEach(answer -> expected.writeBytes(answer.toArray()));
            CompiledModel compiled = ModelCompiler.compile(
                    RequestDraft.of(Path.of("m.onnx"), "c").name(type.text()).build(), function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
            inputs.addAll(data);
        }
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs))
                .isEqualTo(Bytes.wrap(expected.toByteArray()));
    }

    static Bytes model(ElementType type) {
        ModelBuilder model = new ModelBuilder(18);
        model.input("x", type, List.of(3, 20));
        model.input("y", type, List.of(1, 20));
        for (String operator : List.of("BitwiseAnd", "BitwiseOr", "BitwiseXor")) {
            model.output(model.node(operator, List.of("x", "y"), operator, Map.of()), type);
        }
        model.output(model.node("BitwiseNot", List.of("x"), "not", Map.of()), type);
        return model.build();
    }
}
