// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.DrawnCases;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.ml.RandomForests;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random forests on emulated cores answer as the interpreter does: sums of votes bit for bit. {@code -Dkiln.cases} draws more of them. */
class ForestsInQemuTest {
    private static final int FORESTS = 12 * DrawnCases.atLeast(1);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"M4F, gnu, SPEED", "M4F, clang, SIZE", "M0, gnu, SPEED", "M0, clang, SIZE", "RV32, clang, SPEED"})
    void answerAsTheInterpreterDoes(String coreName, String toolchain, Optimize optimize) {
        Core core = BenchData.load().cores().get(coreName);
        String target = BenchImage.target(core);
        TestToolchains.resolve(toolchain, target);
        BenchTest.needs(((Emulation.Qemu) Boards.builtIn().find(core.board()).emulation()).program());
        List<Function> functions = new ArrayList<>();
        List<ModelLibrary> models = new ArrayList<>();
        List<Bytes> inputs = new ArrayList<>();
        for (int seed = 0; seed < FORESTS; seed++) {
            Function function =
                    OnnxFrontend.read(RandomForests.draw(seed).file(), "m.onnx", "m" + seed, InputShapes.NONE);
            CompileRequest request = RequestDraft.of(Path.of("m.onnx"), target)
                    .name("m" + seed)
                    .optimize(optimize)
                    .build();
            functions.add(function);
            models.add(ModelCompiler.compile(request, function).library());
            inputs.add(input(function, seed));
        }
        Bytes actual = OperatorsImage.run(folder, core.board(), target, toolchain, optimize, models, inputs);
        int offset = 0;
        for (int seed = 0; seed < FORESTS; seed++) {
            boolean isExact = RandomForests.draw(seed).ulps() == 0;
            List<Bytes> expected = Interpreter.run(functions.get(seed), List.of(inputs.get(seed)));
            List<TensorType> types = GoldenModels.outputs(functions.get(seed));
            for (int i = 0; i < types.size(); i++) {
                Bytes given = actual.part(offset, expected.get(i).size());
                offset += given.size();
                if (isExact || types.get(i).dtype() != DType.FLOAT32) {
                    assertThat(given).as("forest %s, output %s", seed, i).isEqualTo(expected.get(i));
                }
            }
        }
        assertThat(offset).isEqualTo(actual.size());
    }

    private static Bytes input(Function function, int seed) {
        return RandomForests.input((int) function.params().get(0).type().shape().elements(), 7L * seed);
    }
}
