// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.reference.GoldenModels;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A golden float model on emulated cores without a floating-point unit against the reference kernels. */
final class FloatModelsInQemuTest {
    private static final String MODEL = "ad01_fp32";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"M3, clang", "M0, gnu", "RV32, clang"})
    void answerAsTheReferenceKernelsDo(String coreName, String toolchain) {
        Core core = BenchData.load().cores().get(coreName);
        String board = core.board();
        String target = core.target().isEmpty() ? Boards.builtIn().find(board).target() : core.target();
        TestToolchains.resolve(toolchain, target);
        BenchTest.needs(((Emulation.Qemu) Boards.builtIn().find(board).emulation()).program());
        CompileRequest request = CompileRequest.builder(GoldenModels.model(MODEL), target)
                .name("golden")
                .optimize(Optimize.SPEED)
                .build();
        ModelLibrary library = ModelCompiler.compile(request).library();
        Bytes actual = OperatorsImage.run(
                folder,
                board,
                target,
                toolchain,
                Optimize.SPEED,
                List.of(library),
                List.of(GoldenModels.input(MODEL, 1)));
        Bytes expected = GoldenModels.output(MODEL, 1);
        assertThat(GoldenModels.agree(expected, actual, GoldenModels.outputs(library.metadata())))
                .isTrue();
    }
}
