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
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Collects models whose answers must be those of ONNX Runtime, bit for bit: in the interpreter, and some of them as C on the host. */
final class RuntimeComparison {
    private static final List<String> TARGETS = List.of(
            "c -keys=arm_cpu,cpu -mcpu=cortex-m4",
            "c -keys=arm_cpu,cpu -mcpu=cortex-m55",
            "c -keys=cpu -march=rv32imac");

    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/");
    private static final Pattern FLOAT = Pattern.compile("\\b(float|double)\\b");

    private static final List<Optimize> OPTIMIZE = List.of(Optimize.values());

    /** Of so many models, fewer than one has a sum at a half; counted: two of 3,000. */
    private static final int MODELS_TO_ONE_AT_A_HALF = 500;

    private final Path folder;
    private final List<ModelMetadata> compiled = new ArrayList<>();
    private final List<List<Artifact>> artifacts = new ArrayList<>();
    private final List<Bytes> inputs = new ArrayList<>();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private final List<String> wrong = new ArrayList<>();
    private final List<String> atHalves = new ArrayList<>();
    private final boolean mayRound;
    private int models;

    RuntimeComparison(Path folder) {
        this(folder, false);
    }

    /** @param mayRound whether models have layers of real numbers, see {@link RealResults} */
    RuntimeComparison(Path folder, boolean mayRound) {
        this.folder = folder;
        this.mayRound = mayRound;
    }

    /**
     * Adds a model.
     *
     * @param compiledEvery every so many numbers a model becomes C as well
     */
    void add(int seed, OnnxDraw.Model model, int compiledEvery) {
        Bytes file = model.file();
        Function function = OnnxFrontend.read(file, "m.onnx", "m" + seed, InputShapes.NONE);
        List<Bytes> data = new ArrayList<>();
        for (var param : function.params()) {
            data.add(RandomOperators.input(param.type(), seed + data.size()));
        }
        List<Bytes> answers = OnnxRuntime.run(file, function.params(), data);
        List<Bytes> ours = Interpreter.run(function, data);
        boolean isEqual = ours.equals(answers);
        models++;
        if (!isEqual && mayRound && RealResults.areAtHalves(file, function.params(), data, answers, ours)) {
            atHalves.add(seed + ": " + model.name());
        } else if (!isEqual) {
            wrong.add(seed + ": " + model.name());
        } else if (seed % compiledEvery == 0) {
            CompileRequest request = RequestDraft.of(
                            Path.of("m.onnx"), TARGETS.get(seed / compiledEvery % TARGETS.size()))
                    .name("m" + seed)
                    .optimize(OPTIMIZE.get(seed / compiledEvery % OPTIMIZE.size()))
                    .build();
            CompiledModel result = ModelCompiler.compile(request, function);
            compiled.add(result.library().metadata());
            artifacts.add(result.library().artifacts().artifacts());
            inputs.addAll(data);
            answers.forEach(answer -> expected.writeBytes(answer.toArray()));
        }
    }

    /** No C computes with floats. */
    void assertNoFloats() {
        assertThat(artifacts)
                .isNotEmpty()
                .allSatisfy(files -> assertThat(files)
                        .noneMatch(file -> FLOAT.matcher(COMMENT.matcher(
                                                new String(file.content().toArray(), StandardCharsets.UTF_8))
                                        .replaceAll(""))
                                .find()));
    }

    /** Compares all of them. */
    void assertAnswers() {
        assertThat(wrong).isEmpty();
        assertThat(atHalves).hasSizeLessThanOrEqualTo(1 + models / MODELS_TO_ONE_AT_A_HALF);
        assertThat(HostProgram.build(folder, compiled, artifacts).run(inputs).toArray())
                .isEqualTo(expected.toByteArray());
    }
}
