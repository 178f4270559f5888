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
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Golden float models on emulated cores without a floating-point unit against the reference kernels. */
@NeedsShared("golden")
final class FloatModelsInQemuTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "ad01_fp32, M3, clang",
        "ad01_fp32, M0, gnu",
        "ad01_fp32, RV32, clang",
        "hello_world_float, M3, gnu",
        "hello_world_float, M0, clang",
        "hello_world_float, RV32, gnu"
    })
    void answerAsTheReferenceKernelsDo(String model, String coreName, String toolchain) {
        Core core = BenchTest.ready(coreName, toolchain);
        String board = core.board();
        String target = core.target();
        CompileRequest request = RequestDraft.of(GoldenModels.model(model), target)
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
                List.of(GoldenModels.input(model, 1)));
        Bytes expected = GoldenModels.output(model, 1);
        assertThat(GoldenModels.agree(expected, actual, GoldenModels.outputs(library.metadata())))
                .isTrue();
    }
}
