// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.network;

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
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Usual architectures answer as in ONNX Runtime, in the interpreter and as C: as floats within the tolerance of ONNX's node tests (every
 * other one as C), and quantized with the same bytes in every tensor.
 */
class ExportedNetworksTest {
    private static final double TOLERANCE = 1e-5;

    @TempDir
    private Path folder;

    private final List<ModelMetadata> models = new ArrayList<>();
    private final List<List<Artifact>> artifacts = new ArrayList<>();
    private final List<Bytes> inputs = new ArrayList<>();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private final List<String> wrong = new ArrayList<>();

    private static Function read(String name, Bytes file) {
        return OnnxFrontend.read(file, name, "m", InputShapes.NONE);
    }

    private static List<Bytes> data(Function function) {
        return function.params().stream()
                .map(p -> RandomOperators.input(p.type(), p.id() + 1))
                .toList();
    }

    private void compile(Function function, List<Bytes> data, List<Bytes> answers) {
        String name = "m" + models.size();
        CompiledModel compiled = ModelCompiler.compile(
                RequestDraft.of(Path.of("m.onnx"), "c -keys=arm_cpu,cpu -mcpu=cortex-m4")
                        .name(name)
                        .build(),
                function);
        models.add(compiled.library().metadata());
        artifacts.add(compiled.library().artifacts().artifacts());
        inputs.addAll(data);
        answers.forEach(answer -> expected.writeBytes(answer.toArray()));
    }

    @Test
    void floatsAreThoseOfOnnxRuntime() {
        boolean isCompiled = false;
        for (Map.Entry<String, Bytes> network : ExportedNetworks.all().entrySet()) {
            Function function = read(network.getKey(), network.getValue());
            List<Bytes> data = data(function);
            List<Bytes> answers = OnnxRuntime.run(network.getValue(), function.params(), data);
            if (farthest(answers.get(0), Interpreter.run(function, data).get(0)) > TOLERANCE) {
                wrong.add(network.getKey());
            }
            isCompiled = !isCompiled;
            if (isCompiled) {
                compile(function, data, answers);
            }
        }
        assertThat(wrong).isEmpty();
        Bytes actual = HostProgram.build(folder, models, artifacts).run(inputs);
        assertThat(farthest(Bytes.wrap(expected.toByteArray()), actual)).isLessThanOrEqualTo(TOLERANCE);
    }

    @Test
    void bytesOfAllTensorsAreThoseOfOnnxRuntime() {
        boolean isUnsigned = false;
        for (Map.Entry<String, Bytes> network : ExportedNetworks.all().entrySet()) {
            Function real = read(network.getKey(), network.getValue());
            List<Bytes> data = data(real);
            Bytes file = StaticQuantizer.quantize(network.getValue(), real.params(), data, isUnsigned);
            isUnsigned = !isUnsigned;
            Function function = read(network.getKey(), file);
            List<Bytes> answers = OnnxRuntime.run(file, function.params(), data);
            if (!Interpreter.run(function, data).equals(answers)) {
                wrong.add(network.getKey());
            }
            compile(function, data, answers);
        }
        assertThat(wrong).isEmpty();
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs).toArray())
                .isEqualTo(expected.toByteArray());
    }

    /** Largest difference, absolute and relative. */
    private static double farthest(Bytes expected, Bytes actual) {
        FloatBuffer wanted = expected.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        FloatBuffer given = actual.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        assertThat(given.remaining()).isEqualTo(wanted.remaining());
        double farthest = 0;
        while (wanted.hasRemaining()) {
            float real = wanted.get();
            assertThat(Float.isFinite(real)).isTrue();
            farthest = Math.max(farthest, Math.abs((double) real - given.get()) / (1 + Math.abs(real)));
        }
        return farthest;
    }
}
