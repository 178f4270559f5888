// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.transport.FirmwareSession;
import io.kiln.device.transport.FirmwareSession.Model;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Emulation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EmulatorTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "host,host,CALLER",
        "host,host,WORKSPACE",
        "mps2-an385,clang,CALLER",
        "mps2-an386,clang,WORKSPACE",
        "mps2-an386,gnu,CALLER",
        "mps2-an500,clang,CALLER",
        "mps2-an505,clang,CALLER",
        "mps3-an547,clang,CALLER",
        "mps3-an547,gnu,CALLER",
        "microbit,clang,CALLER",
        "microbit,gnu,CALLER",
        "stm32f405,clang,CALLER",
        "qemu-riscv32,clang,CALLER",
        "qemu-riscv32,gnu,CALLER",
    })
    void everyBoardRunsAModelForAHost(String id, String toolchain, Io io) {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.build(board, toolchain, io, folder);
        boolean good = Emulator.of(board, LIMIT).talk(image, text -> {}, session -> {
            List<Model> models = session.models();
            assertThat(models).containsExactly(new Model("hand", List.of(64), List.of(64, 128)));
            return List.of(-100, -1, 3).stream().allMatch(x -> {
                List<Bytes> outputs = session.run(0, models.get(0), List.of(HandWrittenModel.input(x)));
                return HandWrittenModel.answers(x, outputs);
            });
        });
        assertThat(good).isTrue();
    }

    @Test
    void aModelsErrorIsReported() {
        Board board = HandWrittenModel.board("host");
        Path image = HandWrittenModel.build(board, "host", Io.CALLER, folder);
        assertThatThrownBy(() -> Emulator.of(board, LIMIT).talk(image, text -> {}, session -> {
                    Model model = session.models().get(0);
                    return session.run(0, model, List.of(HandWrittenModel.input(99)));
                }))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("returned error -5");
    }

    @Test
    void aHungImageIsStoppedAndLeavesNoProcess() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = withMain(board, "int main(void) { for (;;) { } }");
        Emulator emulator = Emulator.of(board, Duration.ofSeconds(2));
        assertThatThrownBy(() -> emulator.talk(image, text -> {}, FirmwareSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln: ready")
                .hasMessageContaining("2 s");
        long pid;
        try (RunningProcess process = emulator.start(image)) {
            pid = process.pid();
            assertThat(process.waitFor(Duration.ofSeconds(10))).isPresent();
            assertThat(process.timedOut()).isTrue();
        }
        assertThat(ProcessHandle.of(pid)).isEmpty();
    }

    @Test
    void codeThatIsNotTrustedOpensNoFileAndStartsNoProgram() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path secret = Files.writeString(folder.resolve("secret"), "the secret");
        Path made = folder.resolve("made");
        Path image = withMain(board, """
                #include "kiln_console.h"
                static unsigned call(unsigned op, const void* arguments) {
                  register unsigned r0 __asm__("r0") = op;
                  register const void* r1 __asm__("r1") = arguments;
                  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
                  return r0;
                }
                int main(void) {
                  static const char file[] = "%s";
                  static const char command[] = "touch %s";
                  static char got[11];
                  const unsigned open[] = {(unsigned)file, 0, sizeof file - 1};
                  const unsigned read[] = {call(1, open), (unsigned)got, 10};
                  const unsigned system[] = {(unsigned)command, sizeof command - 1};
                  call(6, read);
                  call(0x12, system);
                  return got[4] == 's' ? 43 : 42;
                }
                """.formatted(secret, made));
        assertThat(exitCode(board, image)).isEqualTo(43);
        assertThat(made).exists();
        Files.delete(made);
        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        Board fenced = with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true));
        assertThat(exitCode(fenced, image)).isEqualTo(42);
        assertThat(made).doesNotExist();
    }

    private static int exitCode(Board board, Path image) throws IOException {
        try (RunningProcess process = Emulator.of(board, LIMIT).start(image)) {
            process.output().readAllBytes();
            return process.waitFor(LIMIT).orElseThrow();
        }
    }

    @ParameterizedTest
    @CsvSource({"mps2-an386", "mps3-an547", "microbit", "qemu-riscv32"})
    void aStackOverflowIsNotSilent(String id) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = withMain(board, """
                #include <stdint.h>
                static int down(volatile int* above, int depth) {
                  volatile int here[16];
                  here[0] = *above + depth;
                  return depth == 0 ? here[0] : down(here, depth - 1) + here[depth % 16];
                }
                int main(void) { volatile int start = 0; return down(&start, 1000000); }
                """);
        try (RunningProcess process = Emulator.of(board, LIMIT).start(image)) {
            String said = new String(process.output().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(said).contains("stack overflow");
            assertThat(process.waitFor(LIMIT)).contains(70);
        }
    }

    @Test
    void aMissingEmulatorNamesThePackageThatHasIt() {
        Board real = HandWrittenModel.board("mps2-an386");
        Board board = with(real, new Emulation.Qemu("qemu-system-riscv33", "virt", List.of()));
        assertThatThrownBy(() -> Emulator.of(board, LIMIT).start(folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("qemu-system-riscv33 is not there")
                .hasMessageContaining("apt-get install qemu-system-misc");
    }

    @Test
    void anImageThatEndsEarlyIsExplained() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = withMain(board, """
                #include "kiln_console.h"
                int main(void) { kiln_console_text("no sensor\\r\\n"); return 3; }
                """);
        assertThatThrownBy(() -> Emulator.of(board, LIMIT).talk(image, text -> {}, FirmwareSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image ended")
                .hasMessageContaining("no sensor")
                .hasMessageContaining("code 3");
    }

    private static Board with(Board real, Emulation emulation) {
        return new Board(
                real.id(),
                real.title(),
                real.maker(),
                real.target(),
                real.memories(),
                real.pools(),
                real.sources(),
                real.linker(),
                real.console(),
                emulation,
                real.openOcd(),
                real.building(),
                real.files(),
                real.origin(),
                real.untrusted());
    }

    private Path withMain(Board board, String code) throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("main")).resolve("main.c"), code);
        return HandWrittenModel.build(board, "clang", Io.CALLER, folder);
    }
}
