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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memories that not every target of a board reaches. */
class MemoryTargetsTest {
    private static final String GOOD = """
            schema: 1
            id: mine
            extends: mps2-an386
            title: Mine
            target: npu -lanes=8, c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=mine
            memories:
              - {name: flash, kind: rom, base: 0x00000000, size: 512K}
              - {name: sram, kind: ram, base: 0x20000000, size: 0x10000}
              - {name: tcm, kind: ram, base: 0x30000000, size: 1K, targets: [host]}
            pools: {workspace: sram, constants: flash}
            """;

    @TempDir
    private Path boards;

    @Test
    void targetsThatReachAMemoryAreThoseOfTheBoard() throws IOException {
        assertThat(mine(GOOD).memory("tcm").orElseThrow().targets()).containsExactly("host");
        assertThat(mine(GOOD).memory("sram").orElseThrow().targets()).isEmpty();
        assertThat(problems(GOOD.replace("targets: [host]", "targets: [npu, gpu, host]")))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.where()).isEqualTo(at(9) + ":71");
                    assertThat(problem.text())
                            .contains("the board has no target gpu that could reach a memory")
                            .contains("one of [host, npu]");
                });
        for (String wrong : List.of("[]", "host", "[host, host]", "[\"a b\"]", "[1]")) {
            assertThat(problems(GOOD.replace("[host]", wrong)))
                    .singleElement()
                    .extracting(Problem::where)
                    .asString()
                    .startsWith(at(9));
        }
    }

    @Test
    void memoriesOfTheCoreAreReachedByIt() throws IOException {
        assertThat(problems(
                        GOOD.replace("0x10000}", "0x10000, targets: [npu]}").replace("512K}", "512K, targets: [npu]}")))
                .extracting(Problem::text)
                .hasSize(2)
                .anyMatch(
                        text -> text.contains(
                                "the memory sram holds variables and stack, and the core does not reach it; expected host among its targets"))
                .anyMatch(text -> text.contains("the memory flash holds the code, and the core does not reach it"));
    }

    /** Any constants may move there. */
    @Test
    void moreConstantsAreReachedByAll() throws IOException {
        String more = GOOD.replace(
                        "512K}", "512K}\n  - {name: far, kind: rom, base: 0x00100000, size: 1M, targets: [host]}")
                .replace("constants: flash", "constants: flash, moreConstants: far");
        assertThat(problems(more))
                .extracting(Problem::text)
                .anyMatch(text ->
                        text.contains("the memory far takes the constants of every target, and only host reach it"));
    }

    /** A board for the core alone may inherit memories that know of an accelerator. */
    @Test
    void anInheritedMemoryMayNameTargetsThatABoardLacks() throws IOException {
        mine(GOOD.replace("[host]", "[host, npu]"));
        Path folder = Files.createDirectories(boards.resolve("plain"));
        Files.writeString(
                folder.resolve("board.yaml"),
                "schema: 1\nid: plain\nextends: mine\ntitle: Plain\ntarget: c -keys=arm_cpu,cpu -mcpu=cortex-m4 -model=plain\n");
        assertThat(Boards.builtIn()
                        .with(boards)
                        .find("plain")
                        .memory("tcm")
                        .orElseThrow()
                        .targets())
                .containsExactly("host", "npu");
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

    private String at(int line) {
        return boards.resolve("mine/board.yaml") + ":" + line;
    }
}
