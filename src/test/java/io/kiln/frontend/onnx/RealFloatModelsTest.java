// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.ir.op.movement.Transpose;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Real float models answer as in ONNX Runtime: by the interpreter, and by generated C on this machine. */
class RealFloatModelsTest {
    private static final List<String> MODELS =
            List.of("micro_kws_m_static_fp32.onnx", "onnx_mnist.onnx", "mnist_simplified.onnx");

    /** Relative to the largest element of an answer. */
    private static final double TOLERANCE = 1e-5;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"micro_kws_m_static_fp32.onnx", "onnx_mnist.onnx", "mnist_simplified.onnx"})
    @NeedsShared("onnx")
    void theInterpreterAnswersAsOnnxRuntime(String name) throws IOException {
        Path file = SharedFolder.need("onnx").resolve(name);
        Function function = OnnxFrontend.read(file, "model", InputShapes.NONE);
        for (int seed = 0; seed < 5; seed++) {
            List<Bytes> inputs = inputs(function, seed);
            assertClose(expected(file, function, inputs), Interpreter.run(function, inputs));
        }
    }

    /** All in one program. */
    @Test
    @NeedsShared("onnx")
    void theGeneratedCodeAnswersAsOnnxRuntime() throws IOException {
        List<CompiledModel> compiled = new ArrayList<>();
        List<Bytes> all = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        for (String name : MODELS) {
            Path file = SharedFolder.need("onnx").resolve(name);
            CompiledModel model = ModelCompiler.compile(RequestDraft.of(file, "c -keys=cpu -model=host")
                    .name("real" + compiled.size())
                    .build());
            compiled.add(model);
            List<Bytes> inputs = inputs(model.imported(), 0);
            all.addAll(inputs);
            expected.addAll(expected(file, model.imported(), inputs));
        }
        Bytes answers = HostProgram.build(
                        folder,
                        compiled.stream().map(c -> c.library().metadata()).toList(),
                        compiled.stream()
                                .map(c -> c.library().artifacts().artifacts())
                                .toList())
                .run(all);
        List<Bytes> actual = new ArrayList<>();
        int at = 0;
        for (Bytes answer : expected) {
            byte[] part = new byte[answer.size()];
            answers.buffer().get(at, part);
            at += part.length;
            actual.add(Bytes.wrap(part));
        }
        assertClose(expected, actual);
    }

    /** Layers follow each other without a transpose between them; one remains where an image is flattened for the result. */
    @ParameterizedTest
    @ValueSource(strings = {"micro_kws_m_static_fp32.onnx", "onnx_mnist.onnx", "mnist_simplified.onnx"})
    @NeedsShared("onnx")
    void noTransposeIsLeft(String name) {
        Function function = OnnxFrontend.read(SharedFolder.need("onnx").resolve(name), "model", InputShapes.NONE);
        assertThat(function.bindings()).noneMatch(b -> b.op() instanceof Transpose);
    }

    private static List<Bytes> inputs(Function function, int seed) {
        return function.params().stream()
                .map(p -> RandomOperators.input(p.type(), seed))
                .toList();
    }

    private static List<Bytes> expected(Path file, Function function, List<Bytes> inputs) throws IOException {
        return OnnxRuntime.run(NewerModel.of(Bytes.wrap(Files.readAllBytes(file))), function.params(), inputs);
    }

    private static void assertClose(List<Bytes> expected, List<Bytes> actual) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            float[] wanted = floats(expected.get(i));
            float[] given = floats(actual.get(i));
            double largest = 1;
            for (float value : wanted) {
                largest = Math.max(largest, Math.abs(value));
            }
            assertThat(given).hasSameSizeAs(wanted);
            for (int k = 0; k < wanted.length; k++) {
                assertThat((double) given[k])
                        .isBetween(wanted[k] - TOLERANCE * largest, wanted[k] + TOLERANCE * largest);
            }
        }
    }

    private static float[] floats(Bytes bytes) {
        float[] floats = new float[bytes.size() / Float.BYTES];
        bytes.buffer().order(java.nio.ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
        return floats;
    }
}
