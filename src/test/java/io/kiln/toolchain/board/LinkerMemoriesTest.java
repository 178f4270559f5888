// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.toolchain.fence.ScriptRegions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Linker scripts have the memories of board.yaml, or are refused. */
class LinkerMemoriesTest {
    private static final String LARGE = """
            schema: 1
            id: mine
            title: Eight megabytes
            extends: nucleo-f446re
            memories:
              - {name: flash, kind: rom, base: 0x08000000, size: 8M}
              - {name: sram, kind: ram, base: 0x20000000, size: 128K}
            """;

    @TempDir
    private Path boards;

    @Test
    void everyBuiltInScriptHasTheMemoriesOfItsBoard() {
        for (String id : Boards.builtIn().ids()) {
            Board board = Boards.builtIn().find(id);
            if (!board.isHost()) {
                List<String> regions = regions(board, board.linker().orElseThrow());
                Board.Memory code = board.constants().orElseThrow();
                Board.Memory data = board.workspace().orElseThrow();
                assertThat(regions).as(id).contains(range("DATA", data.base(), data.size()));
                boolean isApart = Set.of("mps3-an547", "virtual-corstone-300").contains(id);
                assertThat(regions).as(id).contains(range(isApart ? "CONSTANTS" : "CODE", code.base(), code.size()));
            }
        }
    }

    @Test
    void anInheritedScriptGrowsWithTheMemory() throws IOException {
        Board board = board(LARGE);
        assertThat(regions(board, "memory.ld"))
                .containsExactly(range("CODE", 0x08000000L, 8 << 20), range("DATA", 0x20000000L, 128 << 10));
    }

    @Test
    void poolsThatShareNoMemoryAreDividedBetweenTheScriptsMemories() throws IOException {
        Board board = board(
                LARGE.replace(
                                "- {name: sram",
                                "- {name: data, kind: ram, base: 0x10000000, size: 64K}\n  - {name: sram")
                        + "pools: {workspace: [data, sram], constants: flash, parameters: 0x08400000}\n"
                        + "linker: parts.ld\n",
                "parts.ld",
                "INCLUDE memories.ld\nINCLUDE sections.ld\n",
                "parts.parameters.ld",
                "INCLUDE memories.parameters.ld\nINCLUDE sections.ld\n");
        assertThat(board.files().get("memories.ld").text())
                .contains("  DATA_ (rw) : ORIGIN = 0x10000000, LENGTH = 64K\n")
                .contains("  .bss.noinit.tvm.data (NOLOAD) : { *(.bss.noinit.tvm.data) } > DATA_\n");
        assertThat(regions(board, "parts.parameters.ld"))
                .contains(range("CODE", 0x08000000L, 4 << 20), range("PARAMETERS", 0x08400000L, 4 << 20));
        assertThat(regions(Boards.builtIn().find("stm32f405"), "memory.slots.ld"))
                .containsExactlyInAnyOrder(
                        range("CODE", 0x08000000L, (512 << 10) - 256),
                        range("FIRMWARE", 0x0807ff00L, 256),
                        range("SLOT", 0x08080000L, 256 << 10),
                        range("DATA", 0x20000000L, 64 << 10));
    }

    @Test
    void aScriptWithOtherNumbersIsRefused() throws IOException {
        String script = memory("0x08000000", "2M");
        assertThat(problem(LARGE, script).what())
                .isEqualTo("the linker script memory.ld and the memories of the board differ:"
                        + " not all of 0x08000000 to 0x087fffff is used");
        assertThat(problem(LARGE, script).where()).isEqualTo(boards.resolve("mine/memory.ld") + ":2");
        assertThat(problem(LARGE, script).expected())
                .startsWith("CODE 0x08000000 to 0x087fffff, DATA 0x20000000 to 0x2001ffff, as ")
                .endsWith("board.yaml:5 says");
        assertThat(problem(LARGE, script).next()).startsWith("Write INCLUDE memories.ld in place of MEMORY");

        String moved = LARGE.replace("base: 0x08000000, size: 8M", "base: 0x08200000, size: 512K");
        assertThat(problem(moved, memory("0x08000000", "512K")).what())
                .contains("CODE is 0x08000000 to 0x0807ffff, where the board has no memory for it")
                .contains("not all of 0x08200000 to 0x0827ffff is used");
        assertThat(problem(LARGE, memory("0x08000000", "DEFINED(small) ? 2M : 8M"))
                        .what())
                .contains("CODE has no numbers that can be compared");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MEMORY { CODE : ORIGIN = 0x08000000, LENGTH = 8M\n DATA : ORIGIN = 0x20000000, LENGTH = 128K }",
                "MEMORY { BOOT : ORIGIN = 0x08000000, LENGTH = 32K\n CODE : ORIGIN = 0x08008000, LENGTH = 8M - 32K\n"
                        + " DATA : ORIGIN = 0x20000000, LENGTH = 128K }",
                "SECTIONS { .text 0x08000000 : { *(.text) } }",
            })
    void aScriptMayDivideAMemoryOrNameNone(String script) throws IOException {
        assertThat(board(LARGE, "memory.ld", script).files().get("memory.ld").text())
                .isEqualTo(script);
    }

    private static String memory(String base, String size) {
        return "MEMORY {\n  CODE (rx) : ORIGIN = " + base + ", LENGTH = " + size
                + "\n  DATA (rw) : ORIGIN = 0x20000000, LENGTH = 128K\n}\nINCLUDE sections.ld\n";
    }

    private Board board(String yaml, String... files) throws IOException {
        Path folder = Files.createDirectories(boards.resolve("mine"));
        Files.writeString(folder.resolve("board.yaml"), yaml);
        for (int i = 0; i < files.length; i += 2) {
            Files.writeString(folder.resolve(files[i]), files[i + 1]);
        }
        return Boards.builtIn().with(boards).find("mine");
    }

    private Problem problem(String yaml, String script) {
        KilnException thrown = catchThrowableOfType(KilnException.class, () -> board(yaml, "memory.ld", script));
        assertThat(thrown.problems()).hasSize(1);
        return thrown.problems().get(0);
    }

    private static List<String> regions(Board board, String script) {
        SortedMap<String, String> scripts = new TreeMap<>();
        board.files().forEach((name, content) -> scripts.put(name, content.text()));
        return ScriptRegions.of(script, scripts).stream()
                .map(region -> range(
                        region.name(),
                        region.base().orElseThrow(),
                        region.size().orElseThrow()))
                .toList();
    }

    private static String range(String name, long base, long size) {
        return String.format(Locale.ROOT, "%s 0x%08x %d", name, base, size);
    }
}
