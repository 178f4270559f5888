// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A board's memories are an input of the generated C, and all of its profile of the image. */
final class ChangedBoardTest {
    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    @Test
    void aSmallerMemoryMovesWhatNoLongerFits() throws IOException {
        board("64K", "128K");
        flow.generate(build());
        String inFast = entry();
        assertThat(inFast).contains("bss.noinit.tvm.dtcm").doesNotContain("bss.noinit.tvm.sram");

        said.clear();
        flow.generate(build());
        assertThat(said).containsExactly("Generating C: nothing changed");

        board("128", "128K");
        flow.generate(build());
        assertThat(said.get(1))
                .isEqualTo("Generating C: board.memoryMap.memories[2].size changed from '65536' to '128'");
        assertThat(entry()).isNotEqualTo(inFast);
        flow.link(build());
        assertThat(folder.resolve("out/gesture.elf")).exists();
    }

    /** The linker script has its own sizes, so that only the profile tells that the image has become too large. */
    @Test
    void anImageThatNoLongerFitsIsRefused() throws IOException {
        board("64K", "128K");
        flow.generate(build());
        flow.link(build());
        said.clear();
        board("64K", "1K");
        flow.generate(build());
        assertThatThrownBy(() -> flow.link(build())).hasMessageContaining("the image does not fit");
    }

    /** A source of a profile is compiled beside generated C, which stays. */
    @Test
    void aChangedSourceIsCompiledAgain() throws IOException {
        board("64K", "128K");
        flow.generate(build());
        flow.link(build());
        said.clear();
        Files.writeString(folder.resolve("src/main/boards/divided/more.c"), "int more = 1;\n");
        flow.generate(build());
        assertThat(said).containsExactly("Generating C: nothing changed");
        said.clear();
        flow.link(build());
        assertThat(said).anyMatch(line -> line.startsWith("Linked "));
    }

    private BuildSpec build() {
        return new GestureProject(folder).gnu("divided");
    }

    private String entry() throws IOException {
        return new GestureProject(folder).text("generated-sources/kiln/codegen/host/src/gesture_lib0.c");
    }

    private void board(String fast, String slow) throws IOException {
        Path board = Files.createDirectories(folder.resolve("src/main/boards/divided"));
        Files.writeString(board.resolve("board.yaml"), """
            schema: 1
            id: divided
            title: Two memories
            extends: mps2-an386
            memories:
              - {name: code, kind: rom, base: 0x00000000, size: 2M}
              - {name: sram, kind: ram, base: 0x20000000, size: SLOW}
              - {name: dtcm, kind: ram, base: 0x20200000, size: FAST, speed: fast}
            pools: {workspace: [dtcm, sram], constants: code}
            linker: divided.ld
            """.replace("FAST", fast).replace("SLOW", slow));
        Files.writeString(board.resolve("divided.ld"), """
            INCLUDE memories.ld
            INCLUDE sections.ld
            """);
    }
}
