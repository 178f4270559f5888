// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The debugger knows the user's sources by the names that the user knows. */
final class DebugSourcesTest {
    private static final String MAIN = """
        #include "sub/twice.h"
        const char* volatile here;
        static volatile int sum;
        int main(void)
        {
          here = __FILE__;
          sum = twice(sum + 3);
          for (;;) {
          }
        }
        """;
    private static final String HEADER = """
        static inline __attribute__((noinline)) int twice(int x)
        {
          return 2 * x;
        }
        """;

    @TempDir
    private Path folder;

    private Path project;

    @BeforeEach
    void needsTools() throws IOException {
        TestPrograms.need("gdb-multiarch", "qemu-system-arm");
        project = folder.resolve("a project of mine");
        Files.createDirectories(project.resolve("src/main/c/sub"));
        Files.writeString(project.resolve("src/main/c/main.c"), MAIN);
        Files.writeString(project.resolve("src/main/c/sub/twice.h"), HEADER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gnu", "clang"})
    void breakpointsByTheUsersNamesAreHit(String toolchain) throws IOException {
        TestToolchains.resolve(toolchain, Boards.builtIn().find("mps2-an386").target());
        Path old = Files.createDirectories(project.resolve("out/kiln/debug")).resolve("probe.gdb");
        Files.writeString(old, "of a board that had a probe");
        new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET)).debug(spec(toolchain), "openocd", Optional.empty());
        assertThat(old).doesNotExist();

        String said = gdb(List.of(
                "break src/main/c/main.c:7",
                "break src/main/c/sub/twice.h:3",
                "break -source '" + project.toRealPath().resolve("src/main/c/main.c") + "' -line 6",
                "continue",
                "continue",
                "info source",
                "continue",
                "list Reset_Handler"));
        assertThat(said)
                .containsPattern("Breakpoint 3, main \\(\\) at (\\./)?src/main/c/main\\.c:6\n6\t  here = ")
                .containsPattern("Breakpoint 1, main \\(\\) at (\\./)?src/main/c/main\\.c:7\n7\t  sum = twice")
                .containsPattern("Breakpoint 2, (0x[0-9a-f]+ in )?twice \\(.*\\) at (\\./)?src/main/c/sub/twice\\.h:3")
                .contains("Located in " + project.toRealPath().resolve("src/main/c/main.c"))
                .contains("void Reset_Handler(void)")
                .doesNotContain("No source file")
                .doesNotContain("Make breakpoint pending");
        byte[] image = Files.readAllBytes(project.resolve("out/gesture.elf"));
        assertThat(new String(image, StandardCharsets.ISO_8859_1))
                .contains("src/main/c/main.c\0")
                .doesNotContain(folder.getFileName().toString());
        byte[] flat = Files.readAllBytes(project.resolve("out/gesture.bin"));
        assertThat(new String(flat, StandardCharsets.ISO_8859_1)).contains("src/main/c/main.c\0");
    }

    /** Runs the goal's script up to the connection, with QEMU at the other end of a pipe, then other commands. */
    private String gdb(List<String> commands) throws IOException {
        Path elf = project.resolve("out/gesture.elf");
        List<String> script = new ArrayList<>(Files.readAllLines(project.resolve("out/kiln/debug/qemu.gdb")));
        script.removeIf(line -> line.startsWith("tbreak") || line.startsWith("continue"));
        script.replaceAll(line -> line.startsWith("target")
                ? "target extended-remote | exec qemu-system-arm -M mps2-an386 -display none -serial null -monitor none"
                        + " -S -gdb stdio -kernel ../../gesture.elf"
                : line);
        script.addAll(commands);
        Path file = Files.write(folder.resolve("debug.gdb"), script);
        ProcessResult result = ProcessRunner.run(
                Command.of("gdb-multiarch", List.of("-nx", "-batch", "-x", file.toString(), elf.toString()))
                        .in(project.resolve("out/kiln/debug"))
                        .within(Duration.ofMinutes(1)));
        return result.message();
    }

    private BuildSpec spec(String toolchain) {
        return new GestureProject(project)
                .spec("mps2-an386")
                .toolchain(Optional.of(toolchain))
                .mlfVersion(5)
                .verify(GestureProject.UNVERIFIED)
                .build();
    }
}
