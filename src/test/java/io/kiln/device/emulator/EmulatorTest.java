// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.transport.FirmwareSession;
import io.kiln.device.transport.FirmwareSession.Model;
import io.kiln.device.transport.ImageConsole;
import io.kiln.device.transport.ImageConsole.End;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Board.Emulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
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
    void anImageOpensFilesAndStartsProgramsOnlyIfTheUserAsksForThat() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path made = folder.resolve("made");
        Path image = withMain(board, """
                int main(void) {
                  static const char command[] = "touch %s";
                  const unsigned system[] = {(unsigned)command, sizeof command - 1};
                  register unsigned r0 __asm__("r0") = 0x12;
                  register const void* r1 __asm__("r1") = system;
                  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
                  return 0;
                }
                """.formatted(made));
        assertThat(end(Emulator.of(board, LIMIT), image)).isEqualTo(new End.Returned(70));
        assertThat(made).doesNotExist();
        Emulator asked = new Emulator(board, LIMIT, Optional.empty(), true);
        assertThat(end(asked, image)).isEqualTo(new End.Returned(0));
        assertThat(made).exists();

        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        Board fenced = with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true));
        assertThatThrownBy(() -> new Emulator(fenced, LIMIT, Optional.empty(), true).start(image))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.semihosting")
                .hasMessageContaining("<trustBoard>mps2-an386</trustBoard>");
        Board switching = with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), List.of("-semihosting")));
        assertThatThrownBy(() -> Emulator.of(switching, LIMIT).start(image))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("switches semihosting on")
                .hasMessageContaining("-Dkiln.semihosting");
    }

    /** QEMU takes the last of several settings, wherever the others come from. */
    @Test
    void aFileOfSettingsDoesNotSwitchSemihostingOn() throws IOException {
        Board board = HandWrittenModel.board("qemu-riscv32");
        TestTools.need(board);
        Path image = withMain(board, """
                int main(void) {
                  register int a0 __asm__("a0") = 0x18;
                  register int a1 __asm__("a1") = 0x20026;
                  __asm__ volatile(
                      ".balign 16\\n .option push\\n .option norvc\\n"
                      "slli x0, x0, 0x1f\\n ebreak\\n srai x0, x0, 7\\n .option pop" : "+r"(a0) : "r"(a1) : "memory");
                  return 5;
                }
                """);
        Path settings = Files.writeString(
                folder.resolve("qemu.cfg"), "[semihosting-config]\n  enable = \"on\"\n  target = \"native\"\n");
        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        List<String> args = Stream.concat(
                        qemu.args().stream(), Stream.of("-readconfig", settings.toString()))
                .toList();
        Board sly = with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), args));
        assertThat(end(Emulator.of(sly, LIMIT), image)).isEqualTo(new End.Returned(70));
    }

    /** The image asks QEMU's user network who 10.0.2.2 is, by the board's LAN9118, and waits for the answer. */
    @Test
    void anImageReachesNoNetwork() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = withMain(board, """
                #include <stdint.h>
                #define REGISTER(offset) (*(volatile uint32_t*)(0x40200000u + (offset)))
                static const uint8_t question[44] = {
                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x52, 0x54, 0, 0x12, 0x34, 0x56, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1,
                    0x52, 0x54, 0, 0x12, 0x34, 0x56, 10, 0, 2, 15, 0, 0, 0, 0, 0, 0, 10, 0, 2, 2, 0, 0};
                static void mac(uint32_t index, uint32_t value) {
                  REGISTER(0xa8) = value;
                  REGISTER(0xa4) = 0x80000000u | index;
                }
                int main(void) {
                  REGISTER(0x74) = 0x00050000u;
                  REGISTER(0x70) = 2u;
                  mac(1, 1u << 18 | 1u << 3 | 1u << 2);
                  REGISTER(0x20) = 1u << 13 | 1u << 12 | 42u;
                  REGISTER(0x20) = 42u;
                  for (uint32_t i = 0; i < 44; i += 4) {
                    REGISTER(0x20) = question[i] | (uint32_t)question[i + 1] << 8 | (uint32_t)question[i + 2] << 16
                        | (uint32_t)question[i + 3] << 24;
                  }
                  for (volatile uint32_t wait = 0; wait < 3000000; ++wait) {
                    if ((REGISTER(0x7c) >> 16 & 0xffu) != 0u) {
                      return 1;
                    }
                  }
                  return (REGISTER(0x50) >> 16) == 0x0118u ? 0 : 2;
                }
                """);
        assertThat(end(Emulator.of(board, LIMIT), image)).isEqualTo(new End.Returned(0));
    }

    @ParameterizedTest
    @CsvSource({"mps2-an386,256", "mps2-an386,-1", "host,256", "qemu-riscv32,256"})
    void theWholeCodeOfAnImageArrives(String id, int code) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = withMain(board, """
                #include "kiln_console.h"
                int main(void) {
                  kiln_console_text("\\xff\\xfd\\x08exit code 0, kiln: exit 0\\r\\n");
                  return %d;
                }
                """.formatted(code));
        assertThat(end(Emulator.of(board, LIMIT), image)).isEqualTo(new End.Returned(code));
    }

    private static End end(Emulator emulator, Path image) {
        try (RunningProcess process = emulator.start(image)) {
            return ImageConsole.follow(process.output(), LIMIT, text -> {}, text -> false);
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
        assertThatThrownBy(() -> Emulator.of(board, LIMIT).talk(image, text -> {}, FirmwareSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the stack overflowed")
                .hasMessageContaining("__stack_size")
                .hasMessageContaining("code 70");
    }

    @ParameterizedTest
    @CsvSource({
        "mps2-an386,clang,0xd0000000",
        "mps2-an386,gnu,0xd0000000",
        "mps2-an505,clang,0xd0000000",
        "mps3-an547,gnu,0x70000000",
        "microbit,clang,0xd0000000",
        "qemu-riscv32,clang,0x00200000",
        "qemu-riscv32,gnu,0x00200000",
    })
    void aWrongWriteIsNamedWithItsLineAndItsAddress(String id, String toolchain, String address) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Files.writeString(Files.createDirectories(folder.resolve("main")).resolve("main.c"), """
                void poke(volatile int* where, int what);
                void poke(volatile int* where, int what) {
                  *where = what;
                }
                int main(void) {
                  void (*volatile call)(volatile int*, int) = poke;
                  call((volatile int*)%s, 3);
                  return 0;
                }
                """.formatted(address));
        Path image = HandWrittenModel.build(board, toolchain, Io.CALLER, folder);
        String expected = id.equals("microbit") ? "a fault" : "address " + address;
        assertThatThrownBy(() -> Emulator.of(board, LIMIT).talk(image, text -> {}, FirmwareSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(expected)
                .hasMessageMatching("(?s).*poke \\([^ ]*main\\.c:3\\), called from main \\([^ ]*main\\.c:7\\).*")
                .hasMessageContaining("code 70");
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
        assertThatThrownBy(() -> emulator.talk(image, text -> {}, FirmwareSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("more than 4 MiB")
                .hasMessageContaining("lost in space");
        assertThat(Files.size(log)).isLessThan(17 << 20);
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
                real.untrusted(),
                real.foreignFiles());
    }

    private Path withMain(Board board, String code) throws IOException {
        Files.writeString(Files.createDirectories(folder.resolve("main")).resolve("main.c"), code);
        return HandWrittenModel.build(board, "clang", Io.CALLER, folder);
    }
}
