// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The key {@code npu} of a board. */
class NpuBoardTest {
    private static final String GOOD = """
        schema: 1
        id: mine
        extends: mps3-an547
        title: Mine
        target: c -keys=arm_cpu,cpu -mcpu=cortex-m55 -model=mine
        npu: {kind: ethos-u55, macs: 256, base: 0x40004000, irq: 12, secure: false, memories: [ssram, sram, ddr]}
        """;

    @TempDir
    private Path boards;

    @Test
    void theNpuTakesItsPartOfTheTargetAndReachesItsMemories() throws IOException {
        Board board = mine(GOOD);
        assertThat(board.npu())
                .contains(
                        new BoardNpu("ethos-u55-256", 0x40004000L, OptionalInt.of(12), false, false, Optional.empty()));
        assertThat(board.compositeTarget())
                .isEqualTo(
                        "ethos-u -accelerator_config=ethos-u55-256, c -keys=arm_cpu,cpu -mcpu=cortex-m55 -model=mine");
        assertThat(board.memory("itcm").orElseThrow().targets()).containsExactly("host");
        assertThat(board.memory("sram").orElseThrow().targets()).isEmpty();
        assertThat(Boards.builtIn()
                        .find("virtual-corstone-300")
                        .npu()
                        .orElseThrow()
                        .isModel())
                .isTrue();
        assertThat(Boards.builtIn().find("mps3-an547").npu()).isEmpty();
    }

    @Test
    void whatIsWrongIsSaidWithItsLine() {
        assertThat(problems(GOOD.replace("macs: 256", "macs: 512").replace("[ssram, sram, ddr]", "[sram, ddr, tcm]")))
                .extracting(Problem::text)
                .anyMatch(text -> text.contains("board.yaml:6")
                        && text.contains("there is no ethos-u55-512; expected ethos-u55-32, ethos-u55-64"))
                .anyMatch(text -> text.contains("there is no memory tcm that the NPU could reach"));
        assertThat(problems(GOOD.replace("target: c", "target: ethos-u -accelerator_config=ethos-u55-256, c")))
                .extracting(Problem::text)
                .anyMatch(text -> text.contains("the target names an ethos-u of its own beside the key npu"));
        assertThat(problems(GOOD.replace("ethos-u55, macs: 256", "ethos-u85, macs: 256, model: true")))
                .extracting(Problem::text)
                .anyMatch(text -> text.contains("there is no model of an ethos-u85-256"));
        for (String wrong : List.of("kind: ethos-n", "kind: ethos-u55, dma: 1", "kind: ethos-u55, irq: -1")) {
            assertThat(problems(GOOD.replace("kind: ethos-u55", wrong)))
                    .extracting(Problem::where)
                    .allMatch(where -> where.contains("board.yaml:6"));
        }
    }

    private Board mine(String text) throws IOException {
        Path folder = Files.createDirectories(boards.resolve("mine"));
        Files.writeString(folder.resolve("board.yaml"), text);
        return Boards.builtIn().with(boards).find("mine");
    }

    private List<Problem> problems(String text) {
        KilnException thrown = catchThrowableOfType(KilnException.class, () -> mine(text));
        assertThat(thrown).isNotNull();
        return thrown.problems();
    }
}
