// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.RandomBlockModels;
import io.kiln.frontend.onnx.quantized.RandomFourBitLayers;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** ONNX models with weights of a few bits on the cores, with the kernels written for them, answer as in ONNX Runtime: floats nearly, bytes bit for bit. */
final class FourBitModelsInQemuTest {
    private static final int MODELS = DrawnCases.atLeast(24);

    @TempDir
    Path folder;

    /** A model and what ONNX Runtime answers. */
    private record Case(String name, List<TensorType> types, Bytes expected) {}

    @ParameterizedTest
    @CsvSource({
        "M4F, gnu, SPEED, 0",
        "M4F, clang, SIZE, 100",
        "M55, gnu, SPEED, 200",
        "M55, clang, SIZE, 300",
        "M0, clang, SPEED, 400",
        "RV32, gnu, SIZE, 500"
    })
    void answerAsOnnxRuntime(String coreName, String toolchain, Optimize optimize, long firstSeed) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Case> cases = new ArrayList<>();
        for (long seed = firstSeed; models.size() < MODELS; seed++) {
            Bytes file = seed % 3 == 0
                    ? RandomFourBitLayers.draw(seed / 3).file()
                    : RandomBlockModels.draw(seed).file();
            Function function = OnnxFrontend.read(file, "m.onnx", "m" + seed, InputShapes.NONE);
            Bytes input = RandomOperators.input(function.params().get(0).type(), seed);
            CompileRequest request = RequestDraft.of(Path.of("m.onnx"), target)
                    .name(function.name())
                    .optimize(optimize)
                    .build();
            ModelLibrary library = ModelCompiler.compile(request, function).library();
            models.add(library);
            inputs.add(input);
            Bytes expected =
                    OnnxRuntime.run(file, function.params(), List.of(input)).get(0);
            String name = seed + " " + library.metadata().operators().get(0).schedule();
            cases.add(new Case(name, GoldenModels.outputs(function), expected));
        }
        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, optimize, models, inputs);
        List<String> wrong = new ArrayList<>();
        int offset = 0;
        for (Case each : cases) {
            byte[] answer = new byte[each.expected.size()];
            actual.buffer().get(offset, answer);
            offset += answer.length;
            if (!GoldenModels.agree(each.expected, Bytes.wrap(answer), each.types)) {
                wrong.add(each.name);
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(actual.size()).isEqualTo(offset);
    }
}
