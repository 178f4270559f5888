// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.HostProgram;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.reference.Interpreter;
import io.kiln.transform.RealWeights.WholePrecision;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Floats converted to 16 bits and back are, bit for bit, those of ONNX Runtime: in the interpreter, and in C on the host. */
class HalfCastTest {
    private static final int COUNT = 20000;

    @TempDir
    private Path folder;

    @Test
    void roundAsInOnnxRuntime() {
        List<ModelMetadata> models = new ArrayList<>();
        List<List<Artifact>> artifacts = new ArrayList<>();
        Bytes input = input();
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        for (ElementType type : List.of(ElementType.FLOAT16, ElementType.BFLOAT16)) {
            Bytes file = model(type, false);
            Function function = OnnxFrontend.read(file, "m.onnx", type.text(), InputShapes.NONE);
            List<Bytes> answer = OnnxRuntime.run(file, function.params(), List.of(input));
            assertThat(Interpreter.run(function, List.of(input))).isEqualTo(answer);
            assertThat(answer.get(0)).isNotEqualTo(input);
            expected.writeBytes(answer.get(0).toArray());
            CompileRequest request =
                    RequestDraft.of(Path.of("m.onnx"), "c").name(type.text()).build();
            CompiledModel compiled = ModelCompiler.compile(request, function);
            models.add(compiled.library().metadata());
            artifacts.add(compiled.library().artifacts().artifacts());
        }
        Bytes actual = HostProgram.build(folder, models, artifacts).run(List.of(input, input));
        assertThat(actual).isEqualTo(Bytes.wrap(expected.toByteArray()));
    }

    @Test
    void theQuantizerSeesNone() {
        Function function = OnnxFrontend.read(model(ElementType.FLOAT16, true), "m.onnx", "m", InputShapes.NONE);
        assertThat(FloatGraph.of(new WholePrecision().run(function)).nodes())
                .singleElement()
                .satisfies(node -> assertThat(node.op().name()).isEqualTo("sigmoid"));
    }

    private static Bytes model(ElementType type, boolean hasMore) {
        int count = input().size() / Float.BYTES;
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", ElementType.FLOAT, List.of(1, count));
        model.node("Cast", List.of("x"), "half", Map.of("to", (long) ModelBuilder.code(type)));
        model.node("Cast", List.of("half"), "whole", Map.of("to", (long) ModelBuilder.code(ElementType.FLOAT)));
        model.output(hasMore ? model.node("Sigmoid", List.of("whole"), "y", Map.of()) : "whole", ElementType.FLOAT);
        return model.build();
    }

    /** Numbers around every float16, on both sides of every half between two of them, and any bits of finite floats. */
    private static Bytes input() {
        Random random = new Random(16);
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * 2 * COUNT).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < COUNT; i++) {
            float half = (float) Math.scalb(1.0 + random.nextInt(1 << 11) / 2048.0, random.nextInt(42) - 26);
            data.putInt(Float.floatToIntBits(random.nextBoolean() ? half : -half) + random.nextInt(3) - 1);
            int bits = random.nextInt();
            data.putInt(Float.isNaN(Float.intBitsToFloat(bits)) ? bits & 0xff800000 : bits);
        }
        return Bytes.wrap(data.array());
    }
}
