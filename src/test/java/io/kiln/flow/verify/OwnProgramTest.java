// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.process.TestPrograms;
import io.kiln.report.JsonSchemas;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of a program of the project's own, which is flashed but answers no host. */
class OwnProgramTest {
    private static final String START = """
        #include <stddef.h>
        #include <stdint.h>
        #include <tvm/runtime/crt/platform.h>
        #include <tvm/runtime/crt/stack_allocator.h>
        #include "tvmgen_gesture.h"
        """;
    private static final String ABORT = """
        __attribute__((noinline)) void TVMPlatformAbort(tvm_crt_error_t code) {
          (void)code;
          for (;;) {
          }
        }
        """;

    /** Takes 200 bytes of the stack and little more. */
    private static final String FOR_EVER = """
        __attribute__((noinline)) static int filled(int n) {
          volatile char a[200];
          for (int i = 0; i < 200; ++i) a[i] = (char)n;
          return a[n];
        }
        int main(void) { volatile int n = 3; n = filled(n); for (;;) { } }
        """;

    @TempDir
    Path folder;

    private final KeptLog log = new KeptLog();
    private final List<String> said = log.said();

    @Test
    void aProgramThatRunsForEverIsACaseOfItsOwn() throws IOException {
        verify("mps2-an386", FOR_EVER, 1);
        JsonNode record = record();
        assertThat(record.path("passed").asBoolean()).isTrue();
        assertThat(record.path("bitExact").asBoolean()).isTrue();
        assertThat(record.path("cases").findValuesAsText("name")).containsExactly("random_0", "own_program");
        assertThat(said)
                .contains("Verified with the default application, not with the project's own program, which ran up to"
                        + " 1 s on qemu-system-arm mps2-an386 without fault or abort");
        assertThat(said).anyMatch(line -> line.startsWith("Bit-exact on") && line.contains(": 1 cases, 4 outputs"));
        long used = stack().path("used").asLong();
        assertThat(used).isBetween(200L, 300L);
        assertThat(stack().path("available").asLong()).isEqualTo(4096);
        assertThat(said).contains("Stack: " + used + " of 4,096 bytes used");
        said.clear();
        verify("mps2-an386", FOR_EVER, 1);
        assertThat(said).contains("Verifying: nothing changed");
        assertThat(stack().path("used").asLong()).isEqualTo(used);
    }

    @Test
    void whateverGoesWrongInItFailsTheVerification() throws IOException {
        refused("mps2-an386", ABORT + "int main(void) { TVMPlatformAbort(kTvmErrorPlatformNoMemory); }\n")
                .hasMessageContaining("it called TVMPlatformAbort with error 0x");
        assertThat(record().path("bitExact").asBoolean()).isTrue();
        assertThat(record().path("failure").asText()).contains("TVMPlatformAbort");
        assertThat(text("TEST-kiln-verify.xml"))
                .containsPattern("name=\"own_program\" time=\"[0-9.]+\">\\s+<failure message=");
        refused("mps2-an386", """
            static tvm_workspace_t workspace;
            int main(void) { (void)StackMemoryManager_Init(&workspace, NULL, 16); for (;;) { } }
            """).hasMessageContaining("StackMemoryManager_Init returned 0x");
        refused("mps2-an386", "int main(void) { return *(volatile int*)0xdeadbee0; }\n")
                .hasMessageContaining("it stopped with a fault");
        refused("mps2-an386", """
            __attribute__((noinline)) static int wide(int n) {
              volatile char a[9216];
              for (int i = 0; i < 9216; ++i) a[i] = (char)n;
              return a[n];
            }
            int main(void) { volatile int n = 3; return wide(n) - 3; }
            """)
                .hasMessageContaining("the stack overflowed: at least 9,")
                .hasMessageContaining("of 4,096 bytes")
                .hasMessageContaining("wide (");
        refused("mps2-an386", "int main(void) { return 3; }\n").hasMessageContaining("it ended with code 3");
        verify("mps2-an386", "int main(void) { return 0; }\n", 30);
        assertThat(record().path("passed").asBoolean()).isTrue();

        // What the default application takes of the stack says nothing of it.
        said.clear();
        refused("mps2-an386", "int main(void) { volatile int n = 3; return n; }\n");
        assertThat(said).noneMatch(line -> line.startsWith("Stack: "));
        assertThat(stack().has("used")).isFalse();
        verify("mps2-an386", "int main(void) { return 3; }\n", 0);
        assertThat(record().path("passed").asBoolean()).isTrue();
        assertThat(said).noneMatch(line -> line.startsWith("Stack: "));
        assertThat(stack().has("used")).isFalse();
        assertThat(said).anyMatch(line -> line.endsWith("was not booted: kiln.verify.program is 0"));
    }

    /** A guard that is switched off stops nothing, but the paint tells. */
    @Test
    void anOverflowIsRecordedBeforeItFails() throws IOException {
        Path board = Files.createDirectories(folder.resolve("src/main/boards/mine"));
        Files.writeString(board.resolve("board.yaml"), """
            schema: 1
            id: mine
            extends: mps2-an386
            flags: {defines: {KILN_NO_STACK_GUARD: 1}}
            """);
        String below = "extern char __stack_bottom[];\nint main(void) { __stack_bottom[-4] = 1; return 0; }\n";
        refused("mine", below).hasMessageContaining("the stack overflowed: at least 4,");
        assertThat(said).contains("Stack: 4,100 of 4,096 bytes used");
        assertThat(stack().path("used").asLong()).isEqualTo(4100);
    }

    /** A profile is of the default application. */
    @Test
    void aProfileSaysNothingOfItsStack() throws IOException {
        verify("mps2-an386", FOR_EVER, 0);
        said.clear();
        new Flow(log, TestToolchains.environment(log)).profile(spec("mps2-an386", 0));
        assertThat(said)
                .contains("Counted in the default application, not in the project's own program")
                .anyMatch(line -> line.startsWith("One inference on"));
        assertThat(said).noneMatch(line -> line.startsWith("Stack: "));
        assertThat(stack().has("used")).isFalse();
    }

    /** Hardware that the stand-in lacks proves nothing about the board; what the runtime refuses it refuses everywhere. */
    @Test
    void onAStandInOnlyTheRuntimeCounts() throws IOException {
        verify("hifive1-revb", "int main(void) { return *(volatile int*)0xdeadbee0; }\n", 5);
        assertThat(record().path("passed").asBoolean()).isTrue();
        assertThat(record().path("cases")).hasSize(1);
        assertThat(said).anyMatch(line -> line.contains("which may lack what the program uses"));
        refused("hifive1-revb", ABORT + "int main(void) { TVMPlatformAbort(kTvmErrorPlatformNoMemory); }\n")
                .hasMessageContaining("it called TVMPlatformAbort");
    }

    private org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable> refused(String board, String program) {
        var thrown = assertThatThrownBy(() -> verify(board, program, 30)).isInstanceOf(KilnException.class);
        JsonNode record = record();
        assertThat(record.path("passed").asBoolean()).isFalse();
        assertThat(record.at("/cases/1/mismatches").asLong()).isEqualTo(1);
        return thrown;
    }

    private void verify(String board, String program, int seconds) throws IOException {
        TestPrograms.need("qemu-system-arm", "qemu-system-riscv32");
        Path main = folder.resolve("src/main/c/main.c");
        Files.createDirectories(main.getParent());
        Files.writeString(main, START + program);
        new Flow(log, TestToolchains.environment(log)).build(spec(board, seconds), DeviceSpec.USUAL);
    }

    private BuildSpec spec(String board, int seconds) throws IOException {
        return new GestureProject(folder)
                .spec(board)
                .optimize("size")
                .mlfVersion(5)
                .verify(new VerifySpec(
                        VerifyOn.EMULATOR,
                        Optional.empty(),
                        1,
                        0,
                        Duration.ofSeconds(seconds),
                        VerifyOver.CONSOLE,
                        Optional.empty()))
                .build();
    }

    private JsonNode record() {
        try {
            JsonSchemas.assertFits("verify", text("verify.json"));
            return new ObjectMapper().readTree(text("verify.json"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private JsonNode stack() throws IOException {
        JsonSchemas.assertFits("report", text("report.json"));
        return new ObjectMapper().readTree(text("report.json")).path("stack");
    }

    private String text(String file) throws IOException {
        return Files.readString(folder.resolve("out/kiln").resolve(file));
    }
}
