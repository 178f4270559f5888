// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Optimize;
import io.kiln.bench.BenchData.Core;
import io.kiln.bench.BenchImage.Setting;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TestToolchains;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Objects of LLVM against C compiled by the same clang, in QEMU: the same answers, and as many instructions. The other two models with
 * {@code -Dkiln.golden=all}.
 */
@NeedsShared("golden")
final class LlvmInQemuTest {
    private static final double PERCENT = 2;
    private static final List<String> MODELS = List.of("kws_ref_model", "vww_96_int8", "pretrainedResnet_quant");
    private static final int CASES = 2;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"mps2-an386", "mps3-an547", "qemu-riscv32"})
    void takesAsManyInstructionsAsC(String name) {
        Board board = Boards.builtIn().find(name);
        TestToolchains.resolve("clang", board.target());
        BenchTest.needs(((Emulation.Qemu) board.emulation()).program());
        BenchTest.needs("cc");
        Path plugin = Bench.plugin(folder);
        boolean all = System.getProperty("kiln.golden", "").equals("all");
        for (String model : MODELS.subList(0, all ? MODELS.size() : 1)) {
            BenchRun c = run(name, board.target(), model, plugin);
            BenchRun llvm = run(name, board.target().replaceFirst("^c ", "llvm "), model, plugin);
            assertThat(llvm.bitExact()).as(model).isTrue();
            assertThat((double) llvm.instructions())
                    .as(model)
                    .isCloseTo((double) c.instructions(), Percentage.withPercentage(PERCENT));
        }
    }

    private BenchRun run(String board, String target, String model, Path plugin) {
        Path golden = GoldenModels.folder(model);
        Core core = new Core(board, target, 1, "");
        Setting setting = new Setting("clang", Optimize.SPEED, Io.CALLER);
        Path at = folder.resolve(model + "-" + target.substring(0, target.indexOf(' ')));
        BenchImage image = BenchImage.build(at, GoldenModels.model(model), "golden", core, setting, CASES);
        return BenchRun.of(image, golden, CASES, plugin);
    }
}
