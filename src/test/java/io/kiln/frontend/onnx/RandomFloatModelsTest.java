// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.RandomOperators;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random float models of one operator answer as in ONNX Runtime, within the tolerance of ONNX's node tests: in the interpreter, and some
 * as C on the host.
 */
class RandomFloatModelsTest {
    private static final int MODELS = "all".equals(System.getProperty("kiln.onnx")) ? 600 : 80;

    /** Every so many models one becomes C as well; no divisor of the number of operators. */
    private static final int COMPILED = 3;

    private static final double TOLERANCE = 1e-5;

    @TempDir
    private Path folder;

    @Test
    void operatorsAnswerAsInOnnxRuntime() {
        List<String> wrong = new ArrayList<>();
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (int seed = 0; seed < MODELS; seed++) {
            RandomFloatModels.Model model = RandomFloatModels.draw(seed);
            Function function = OnnxFrontend.read(model.file(), "m.onnx", "m" + seed, InputShapes.NONE);
            List<Bytes> data = new ArrayList<>();
            for (var param : function.params()) {
                data.add(RandomOperators.input(param.type(), seed + data.size()));
            }
            Bytes answer =
                    OnnxRuntime.run(model.file(), function.params(), data).get(0);
            if (farthest(answer, Interpreter.run(function, data).get(0)) > TOLERANCE) {
                wrong.add(seed + ": " + model.name());
            } else if (seed % COMPILED == 0) {
                CompileRequest request = CompileRequest.builder(Path.of("m.onnx"), "c")
                        .name("m" + seed)
                        .build();
                CompiledModel compiled = ModelCompiler.compile(request, function);
                models.add(compiled.library().metadata());
                artifacts.add(compiled.library().artifacts().artifacts());
                inputs.addAll(data);
                expected.writeBytes(answer.toArray());
            }
        }
        assertThat(wrong).isEmpty();
        Bytes actual = HostProgram.build(folder, models, artifacts).run(inputs);
        assertThat(farthest(Bytes.wrap(expected.toByteArray()), actual)).isLessThanOrEqualTo(TOLERANCE);
    }

    /** Largest difference of floats, absolute and relative. */
    private static double farthest(Bytes expected, Bytes actual) {
        assertThat(actual.size()).isEqualTo(expected.size());
        int count = expected.size() / DType.FLOAT32.bytes();
        TensorType type = new TensorType(Shape.of(count), DType.FLOAT32);
        Constant wanted = new Constant("", type, expected);
        Constant given = new Constant("", type, actual);
        double farthest = 0;
        for (int i = 0; i < count; i++) {
            assertThat(Float.isFinite(wanted.real(i))).isTrue();
            farthest = Math.max(
                    farthest, Math.abs((double) wanted.real(i) - given.real(i)) / (1 + Math.abs(wanted.real(i))));
        }
        return farthest;
    }
}
