// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Function;
import io.kiln.lower.RandomOperators;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random quantized models answer as in ONNX Runtime, bit for bit: in the interpreter, and their C on the host. */
class RandomModelsTest {
    private static final boolean IS_WHOLE = "all".equals(System.getProperty("kiln.onnx"));
    private static final int MODELS = IS_WHOLE ? 2000 : 140;
    private static final int NETWORKS = IS_WHOLE ? 100 : 12;

    /** Every so many models one becomes C as well. */
    private static final int COMPILED = 4;

    private static final List<String> TARGETS = List.of(
            "c -keys=arm_cpu,cpu -mcpu=cortex-m4",
            "c -keys=arm_cpu,cpu -mcpu=cortex-m55",
            "c -keys=cpu -march=rv32imac");

    private static final List<Optimize> OPTIMIZE = List.of(Optimize.values());

    @TempDir
    private Path folder;

    private final List<ModelMetadata> models = new ArrayList<>();
    private final List<List<Artifact>> artifacts = new ArrayList<>();
    private final List<Bytes> inputs = new ArrayList<>();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private final List<String> wrong = new ArrayList<>();

    @Test
    void operatorsAnswerAsInOnnxRuntime() {
        for (int seed = 0; seed < MODELS; seed++) {
            RandomModels.Model model = RandomModels.draw(seed);
            compare(seed, model.name(), model.file(), COMPILED);
        }
        assertCAnswers();
    }

    @Test
    void networksAnswerAsInOnnxRuntime() {
        for (int seed = 0; seed < NETWORKS; seed++) {
            compare(seed, "network", RandomNetworks.draw(seed), 1);
        }
        assertCAnswers();
    }

    private void compare(int seed, String name, Bytes file, int compiledEvery) {
        Function function = OnnxFrontend.read(file, "m.onnx", "m" + seed, InputShapes.NONE);
        List<Bytes> data = new ArrayList<>();
        for (var param : function.params()) {
            data.add(RandomOperators.input(param.type(), seed + data.size()));
        }
        List<Bytes> answers = OnnxRuntime.run(file, function.params(), data);
        if (!Interpreter.run(function, data).equals(answers)) {
            wrong.add(seed + ": " + name);
        } else if (seed % compiledEvery == 0) {
            CompileRequest request = CompileRequest.builder(
                            Path.of("m.onnx"), TARGETS.get(seed / compiledEvery % TARGETS.size()))
                    .name("m" + seed)
                    .optimize(OPTIMIZE.get(seed / compiledEvery % OPTIMIZE.size()))
                    .build();
            CompiledModel compiled = ModelCompiler.compile(request, function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
            inputs.addAll(data);
            answers.forEach(answer -> expected.writeBytes(answer.toArray()));
        }
    }

    private void assertCAnswers() {
        assertThat(wrong).isEmpty();
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs).toArray())
                .isEqualTo(expected.toByteArray());
    }
}
