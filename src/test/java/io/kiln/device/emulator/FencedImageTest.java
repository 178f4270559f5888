// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.device.protocol.Ends;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an image in QEMU reaches of this computer. */
class FencedImageTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    @Test
    void anImageOpensFilesAndStartsProgramsOnlyIfTheUserAsksForThat() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path made = folder.resolve("made");
        Path image = HandWrittenModel.withMain(board, "clang", """
            int main(void) {
              static const char command[] = "touch MADE";
              const unsigned system[] = {(unsigned)command, sizeof command - 1};
              register unsigned r0 __asm__("r0") = 0x12;
              register const void* r1 __asm__("r1") = system;
              __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
              return 0;
            }
            """.replace("MADE", made.toString()), folder);
        assertThat(HandWrittenModel.end(Emulator.of(board, LIMIT), image)).matches(end -> Ends.code(end) == 70);
        assertThat(made).doesNotExist();
        Emulator asked = new Emulator(board, LIMIT, Optional.empty(), true);
        assertThat(HandWrittenModel.end(asked, image)).matches(end -> Ends.code(end) == 0);
        assertThat(made).exists();

        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        Board fenced =
                HandWrittenModel.with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true));
        assertThatThrownBy(() -> new Emulator(fenced, LIMIT, Optional.empty(), true).start(image))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln.semihosting")
                .hasMessageContaining("kiln.trustBoard with its coordinates")
                .hasMessageNotContaining("<trustBoard>");
        Board switching = HandWrittenModel.with(
                board, new Emulation.Qemu(qemu.program(), qemu.machine(), List.of("-semihosting")));
        assertThatThrownBy(() -> Emulator.of(switching, LIMIT).start(image))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("enables semihosting")
                .hasMessageContaining("-Dkiln.semihosting");
    }

    /** {@code -nic none} takes away no network that another argument gives, such as one of a trusted board that a stranger's extends. */
    @Test
    void aStrangersImageInheritsNoArgumentThatReachesThisComputer() {
        Board board = HandWrittenModel.board("qemu-riscv32");
        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        for (List<String> args : List.of(
                List.of("-nic", "user"),
                List.of("-netdev", "user,id=n"),
                List.of("-bios", "none", "-drive", "file=/etc/passwd,if=mtd"),
                List.of("-bios", "/etc/passwd"),
                List.of("-m"),
                List.of("-readconfig", "x"))) {
            Board fenced = HandWrittenModel.with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), args, true));
            assertThatThrownBy(() -> Emulator.of(fenced, LIMIT).line(Path.of("x.elf"), List.of()))
                    .as(args.toString())
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("arguments of QEMU");
        }
        Board plain =
                HandWrittenModel.with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), qemu.args(), true));
        TestTools.need(plain);
        assertThat(Emulator.of(plain, LIMIT).line(Path.of("x.elf"), List.of())).containsAll(qemu.args());
    }

    /** QEMU takes the last of several settings, wherever the others come from. */
    @Test
    void aFileOfSettingsDoesNotSwitchSemihostingOn() throws IOException {
        Board board = HandWrittenModel.board("qemu-riscv32");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "clang", """
            int main(void) {
              register int a0 __asm__("a0") = 0x18;
              register int a1 __asm__("a1") = 0x20026;
              __asm__ volatile(
                  ".balign 16\\n .option push\\n .option norvc\\n"
                  "slli x0, x0, 0x1f\\n ebreak\\n srai x0, x0, 7\\n .option pop" : "+r"(a0) : "r"(a1) : "memory");
              return 5;
            }
            """, folder);
        Path settings = Files.writeString(
                folder.resolve("qemu.cfg"), "[semihosting-config]\n  enable = \"on\"\n  target = \"native\"\n");
        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        List<String> args = Stream.concat(qemu.args().stream(), Stream.of("-readconfig", settings.toString()))
                .toList();
        Board sly = HandWrittenModel.with(board, new Emulation.Qemu(qemu.program(), qemu.machine(), args));
        assertThat(HandWrittenModel.end(Emulator.of(sly, LIMIT), image)).matches(end -> Ends.code(end) == 70);
    }

    /** The image asks QEMU's user network who 10.0.2.2 is, by the board's LAN9118, and waits for the answer. */
    @Test
    void anImageReachesNoNetwork() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "clang", """
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
            """, folder);
        assertThat(HandWrittenModel.end(Emulator.of(board, LIMIT), image)).matches(end -> Ends.code(end) == 0);
    }
}
