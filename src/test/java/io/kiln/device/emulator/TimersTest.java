// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** microTVM's timer on every machine that QEMU emulates, where an instruction takes one nanosecond of virtual time. */
class TimersTest {
    private static final List<String> INSTRUCTIONS_ARE_TIME = List.of("-icount", "shift=0,sleep=off");

    private static final int NO_ERROR = 0;
    private static final int BAD_STATE = 0x504;

    /** Nanoseconds that two loops of one and of three million instructions take. */
    private static final double SHORT = 1e6;

    private static final double LONG = 3e6;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mps2-an385",
                "mps2-an386",
                "mps2-an500",
                "mps2-an505",
                "mps3-an547",
                "microbit",
                "virtual-stm32f405",
                "qemu-riscv32"
            })
    void timesAreThoseOfTheMachineAndTheSameOnEveryRun(String id) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "gnu", program(), folder);

        List<String> lines = run(board, image);
        assertThat(run(board, image)).isEqualTo(lines);
        double tick = 1e9 / board.timer().orElseThrow().hertz();
        assertThat(seconds(lines.get(0)) * 1e9).isCloseTo(SHORT, within(500 + 2 * tick));
        assertThat(seconds(lines.get(1)) * 1e9).isCloseTo(LONG, within(500 + 2 * tick));
        double ticks = seconds(lines.get(1)) * board.timer().orElseThrow().hertz();
        assertThat(ticks).as("whole ticks").isCloseTo(Math.rint(ticks), within(1e-6));
    }

    @Test
    void theHostsTimeGoesOn() throws IOException {
        Board board = HandWrittenModel.board("host");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "host", program(), folder);

        List<String> lines = run(board, image);
        assertThat(seconds(lines.get(0))).isPositive();
        assertThat(seconds(lines.get(1))).isGreaterThan(seconds(lines.get(0)) / 100);
    }

    /** Two loops of two instructions each turn; each line is the bits of a double, then the codes of five calls. */
    private static String program() {
        return program(1_500_000);
    }

    private static String program(int turns) {
        return """
            #include <string.h>
            #include <tvm/runtime/crt/platform.h>
            #include "kiln_console.h"
            static void put(uint64_t value) {
              for (int i = 60; i >= 0; i -= 4) kiln_console_put((uint8_t)"0123456789abcdef"[value >> i & 15u]);
            }
            __attribute__((noinline)) static void loop(uint32_t turns) {
            #if defined(__arm__)
              __asm__ volatile(".syntax unified\\n1: subs %0, %0, #1\\n bne 1b" : "+l"(turns) : : "cc");
            #elif defined(__riscv)
              __asm__ volatile("1: addi %0, %0, -1\\n bnez %0, 1b" : "+r"(turns));
            #else
              while (turns-- != 0u) __asm__ volatile("");
            #endif
            }
            static void measure(uint32_t turns) {
              double seconds = -1;
              uint64_t bits = 0;
              uint64_t again = 0;
              int codes[4];
              codes[0] = (int)TVMPlatformTimerStart();
              loop(turns);
              codes[1] = (int)TVMPlatformTimerStop(&seconds);
              memcpy(&bits, &seconds, sizeof bits);
              codes[2] = (int)TVMPlatformTimerStop(&seconds);
              codes[3] = (int)TVMPlatformTimerStart();
              again = (uint64_t)TVMPlatformTimerStart();
              (void)TVMPlatformTimerStop(&seconds);
              put(bits);
              for (int i = 0; i < 4; ++i) { kiln_console_put(' '); put((uint64_t)codes[i]); }
              kiln_console_put(' ');
              put(again);
              kiln_console_text("\\n");
            }
            int main(void) {
              measure(500000u);
              measure(@TURNS@u);
              return 0;
            }
            """.replace("@TURNS@", Integer.toString(turns));
    }

    /** An instruction takes a microsecond here, and five million of them more nanoseconds than a counter of 32 bits has. */
    @Test
    void aCounterThatRanOverIsCounted() throws IOException {
        Board board = HandWrittenModel.board("virtual-stm32f405");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "gnu", program(2_500_000), folder);

        List<String> lines = lines(board, image, List.of("-icount", "shift=10,sleep=off"));
        assertThat(seconds(lines.get(0))).isCloseTo(1.024, within(1e-3));
        assertThat(seconds(lines.get(1))).isCloseTo(5.12, within(1e-3));
    }

    private static List<String> run(Board board, Path image) throws IOException {
        List<String> lines = lines(board, image, board.isHost() ? List.of() : INSTRUCTIONS_ARE_TIME);
        for (String line : lines) {
            assertThat(codes(line)).containsExactly(NO_ERROR, NO_ERROR, BAD_STATE, NO_ERROR, BAD_STATE);
        }
        return lines;
    }

    private static List<String> lines(Board board, Path image, List<String> more) throws IOException {
        List<String> lines = new ArrayList<>();
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(30)).start(image, more);
                BufferedReader console =
                        new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.US_ASCII))) {
            lines.add(console.readLine());
            lines.add(console.readLine());
        }
        return lines;
    }

    private static double seconds(String line) {
        return Double.longBitsToDouble(Long.parseUnsignedLong(line.substring(0, 16), 16));
    }

    private static List<Integer> codes(String line) {
        return List.of(line.substring(17).split(" ")).stream()
                .map(code -> Integer.parseInt(code, 16))
                .toList();
    }
}
