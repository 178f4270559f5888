// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.draw.RandomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxDraw;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.frontend.onnx.quantized.RandomModels;
import io.kiln.frontend.onnx.quantized.RandomRealBiases;
import io.kiln.frontend.onnx.quantized.RandomResizes;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Quantized ONNX models on the cores, with the kernels written for them, answer as in ONNX Runtime. */
final class OnnxModelsInQemuTest {
    private static final int MODELS = 84;

    /** Layers with a bias of real numbers, and interpolated images, in turns. */
    private static final int MORE_MODELS = 16;

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "M4F, gnu, SPEED, 3000",
        "M4F, clang, SIZE, 4000",
        "M55, clang, SPEED, 5000",
        "M3, gnu, SPEED, 7000",
        "M0, clang, SPEED, 8000",
        "RV32, gnu, SPEED, 6000"
    })
    void answerAsOnnxRuntime(String coreName, String toolchain, Optimize optimize, long firstSeed) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        List<Bytes> expected = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (long seed = firstSeed; models.size() < MODELS + MORE_MODELS; seed++) {
            OnnxDraw.Model model = models.size() < MODELS ? RandomModels.draw(seed) : another(seed);
            Function function = OnnxFrontend.read(model.file(), "m.onnx", "m" + seed, InputShapes.NONE);
            List<Bytes> own = new ArrayList<>();
            for (Parameter parameter : function.params()) {
                own.add(RandomOperators.input(parameter.type(), seed + own.size()));
            }
            CompileRequest request = RequestDraft.of(Path.of("m.onnx"), target)
                    .name(function.name())
                    .optimize(optimize)
                    .build();
            models.add(ModelCompiler.compile(request, function).library());
            inputs.addAll(own);
            expected.add(OnnxRuntime.run(model.file(), function.params(), own).get(0));
            names.add(seed + ": " + model.name());
        }

        Bytes actual = OperatorsImage.run(folder, board, target, toolchain, optimize, models, inputs);
        List<String> wrong = new ArrayList<>();
        int offset = 0;
        for (int i = 0; i < models.size(); i++) {
            byte[] answer = new byte[expected.get(i).size()];
            actual.buffer().get(offset, answer);
            offset += answer.length;
            if (!Bytes.wrap(answer).equals(expected.get(i))) {
                wrong.add(names.get(i));
            }
        }
        assertThat(wrong).isEmpty();
    }

    private static OnnxDraw.Model another(long seed) {
        return seed % 2 == 0 ? RandomRealBiases.draw(seed / 2) : RandomResizes.draw(seed / 2);
    }
}
