// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.ProgramWatch.WatchedProgram;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
        boolean good = Emulator.of(board, LIMIT).talk(image, new ConsoleProtocol(LIMIT), text -> {}, session -> {
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
        assertThatThrownBy(() -> Emulator.of(board, LIMIT)
                        .talk(image, new ConsoleProtocol(LIMIT), text -> {}, session -> {
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
        assertThatThrownBy(() -> emulator.talk(image, new ConsoleProtocol(LIMIT), text -> {}, ModelSession::models))
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

    /** More than the eight bits that this computer's processes have for it. */
    @ParameterizedTest
    @CsvSource({"mps2-an386,256", "mps2-an386,-1", "qemu-riscv32,256"})
    void theWholeCodeOfAnImageArrives(String id, int code) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = withMain(board, """
            #include "kiln_console.h"
            int main(void) {
              kiln_console_text("\\xff\\xfd\\x08exit code 0, kiln: exit 0\\r\\n");
              return CODE;
            }
            """.replace("CODE", Integer.toString(code)));
        assertThat(HandWrittenModel.end(Emulator.of(board, LIMIT), image)).matches(end -> Ends.code(end) == code);
    }

    @Test
    void anImageThatFloodsItsConsoleIsStopped() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = withMain(board, """
            #include "kiln_console.h"
            int main(void) {
              for (;;) {
                kiln_console_text("lost in space ");
              }
            }
            """);
        Path log = folder.resolve("console.log");
        Emulator emulator = new Emulator(board, Duration.ofMinutes(5), Optional.of(log), false);
        assertThatThrownBy(() -> emulator.talk(
                        image, new ConsoleProtocol(Duration.ofMinutes(4)), text -> {}, ModelSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("more than 4 MiB")
                .hasMessageContaining("lost in space");
        assertThat(Files.size(log)).isLessThan(17 << 20);
    }

    /** QEMU's serial ports of STM32 chips wait while nobody reads, and its monitor waits for them. */
    @ParameterizedTest
    @ValueSource(strings = {"stm32f405", "mps2-an386"})
    void aProgramThatFloodsItsConsoleIsStoppedWhenItsTimeIsOver(String id) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = withMain(board, """
            #include "kiln_console.h"
            int main(void) {
              for (;;) {
                kiln_console_text("lost in space ");
              }
            }
            """);
        Duration limit = Duration.ofMillis(50);
        assertTimeoutPreemptively(Duration.ofSeconds(40), () -> {
            try (WatchedProgram program = Emulator.of(board, limit).watch(image)) {
                StringBuilder printed = new StringBuilder();
                End end = ImageConsole.follow(
                        program.output(),
                        limit,
                        text -> {
                            // Meanwhile everything fills up between the program and its reader.
                            pause(printed.length() == 0 ? 2000 : 0);
                            printed.append(text);
                        },
                        text -> false);
                assertThat(end).isEqualTo(new End.TimeOver());
                assertThat(printed.toString()).startsWith("lost in space lost");
                assertThat(program.stackUse(OptionalLong.empty())).isPresent();
            }
        });
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aMissingEmulatorNamesThePackageThatHasIt() {
        Board real = HandWrittenModel.board("mps2-an386");
        Board board = HandWrittenModel.with(real, new Emulation.Qemu("qemu-system-riscv33", "virt", List.of()));
        assertThatThrownBy(() -> Emulator.of(board, LIMIT).start(folder))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("qemu-system-riscv33 is missing")
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
        assertThatThrownBy(() -> Emulator.of(board, LIMIT)
                        .talk(image, new ConsoleProtocol(LIMIT), text -> {}, ModelSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image ended")
                .hasMessageContaining("no sensor")
                .hasMessageContaining("code 3");
    }

    private Path withMain(Board board, String code) throws IOException {
        return HandWrittenModel.withMain(board, "clang", code, folder);
    }
}
