// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Golden models in QEMU, each in an image of its own, a share of them for each core and way to optimize; all of them with
 * {@code -Dkiln.golden=all}.
 */
@NeedsShared("golden")
final class GoldenSetInQemuTest {
    private static final int SHARES = 24;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "0, mps2-an386, SPEED, ''",
        "1, mps2-an386, SIZE, ''",
        "2, mps2-an386, RAM, ''",
        "3, mps2-an386, SPEED, -i-cache-size=1024",
        "8, mps2-an386, SPEED, -i-cache-size=1024",
        "9, mps2-an386, RAM, -i-cache-size=1024",
        "4, mps2-an385, SPEED, ''",
        "5, mps2-an500, SPEED, ''",
        "6, mps3-an547, SPEED, ''",
        "7, qemu-riscv32, SPEED, ''",
    })
    void answersAsTheReferenceKernelsDo(int share, String board, Optimize optimize, String attributes) {
        List<String> models = GoldenModels.share(share, SHARES);
        String target = Boards.builtIn().find(board).target() + " " + attributes;
        TestToolchains.resolve("gnu", target);
        BenchTest.needs(((Emulation.Qemu) Boards.builtIn().find(board).emulation()).program());
        for (String model : models) {
            CompileRequest request = RequestDraft.of(GoldenModels.model(model), target)
                    .name("golden")
                    .optimize(optimize)
                    .build();
            ModelLibrary library = ModelCompiler.compile(request).library();
            List<TensorInfo> outputs = library.metadata().outputs();
            Bytes actual = OperatorsImage.run(
                    folder.resolve(model),
                    board,
                    "gnu",
                    optimize,
                    List.of(library),
                    List.of(GoldenModels.input(model, 1)));
            int size = (int) outputs.stream().mapToLong(TensorInfo::bytes).sum();
            assertThat(actual.size()).as(model).isEqualTo(size);
            Bytes expected = GoldenModels.output(model, 1);
            assertThat(GoldenModels.agree(expected, actual, GoldenModels.outputs(library.metadata())))
                    .as(model)
                    .isTrue();
        }
    }
}
