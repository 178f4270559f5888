// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.ImageSpec.RunSpec;
import io.kiln.process.TestPrograms;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code kiln:run} makes of how a program ends. */
final class RunStepTest {
    private static final RunSpec TO_ITS_END = new RunSpec(Duration.ofSeconds(30), Optional.empty());

    @TempDir
    static Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();

    /** One project on this computer, whose main is another one each time: nothing but that is compiled again. */
    @Test
    void onlyAnEndWithCodeZeroOrTheTextSucceeds() throws IOException {
        run("host", "int main(void) { return 0; }", TO_ITS_END);
        assertThat(said).contains("The image ended with code 0");
        assertThatThrownBy(() -> run("host", "int main(void) { return 3; }", TO_ITS_END))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image ended with code 3");
        assertThatThrownBy(() -> run("host", "#include <stdlib.h>\nint main(void) { _Exit(4); }", TO_ITS_END))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image ended with code 4");
        assertThatThrownBy(() -> run("host", "int main(void) { __builtin_trap(); }", TO_ITS_END))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image ended with code 1");
        String forEver = """
                #include <stdio.h>
                int main(void) {
                  puts("listening");
                  fflush(stdout);
                  for (;;) {
                  }
                }
                """;
        assertThatThrownBy(() -> run("host", forEver, new RunSpec(Duration.ofSeconds(1), Optional.empty())))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("did not end within 1 s")
                .hasMessageContaining("kiln.run.timeout")
                .hasMessageContaining("kiln.run.until");
        run("host", forEver, new RunSpec(Duration.ofSeconds(30), Optional.of("listening")));
        assertThat(said).contains("| listening", "'listening' appeared: the image was stopped");
        assertThatThrownBy(() -> run("host", forEver, new RunSpec(Duration.ofSeconds(1), Optional.of("gone"))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("'gone' did not appear within 1 s");
    }

    @Test
    void aFaultFailsWithItsFunctionAndLine() throws IOException {
        TestPrograms.need("qemu-system-arm");
        assertThatThrownBy(() -> run("mps2-an386", """
                        int main(void) {
                          *(volatile int*)0xd0000000 = 3;
                          return 0;
                        }
                        """, TO_ITS_END))
                .isInstanceOf(KilnException.class)
                .hasMessageMatching("(?s).*main \\([^ ]*main\\.c:2\\).*")
                .hasMessageContaining("address 0xd0000000")
                .hasMessageContaining("the image ended with code 70");
        assertThat(said).anyMatch(line -> line.startsWith("| kiln: exception 0x00000003 at 0x"));
    }

    private void run(String board, String main, RunSpec run) throws IOException {
        Path project = folder.resolve(board);
        Files.writeString(Files.createDirectories(project.resolve("src/main/c")).resolve("main.c"), main);
        BuildSpec spec = new GestureProject(project)
                .spec(board)
                .mlfVersion(5)
                .verify(GestureProject.UNVERIFIED)
                .build();
        new Flow(log, TestToolchains.environment(log)).run(spec, run);
    }
}
