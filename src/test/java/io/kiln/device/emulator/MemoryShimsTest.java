// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Optimize;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.process.RunningProcess;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The shims' copy, which is assembly on Armv7-M and later, from and to any alignment. */
final class MemoryShimsTest {
    private static final String PROGRAM = """
        /* SPDX-License-Identifier: Apache-2.0 */
        #include <stdint.h>
        #include <string.h>
        #include "kiln_console.h"
        static uint8_t from[256];
        static uint8_t to[256];
        static uint32_t copied;
        static uint32_t wrong;
        static void copy(uint32_t target, uint32_t source, uint32_t bytes) {
          for (uint32_t i = 0; i < sizeof to; ++i) {
            ((volatile uint8_t*)from)[i] = (uint8_t)(7u * i + bytes);
            ((volatile uint8_t*)to)[i] = (uint8_t)(i ^ 0x55u);
          }
          wrong += memcpy(to + target, from + source, bytes) != to + target;
          for (uint32_t i = 0; i < sizeof to; ++i) {
            uint8_t inside = from[(source + i - target) % sizeof from];
            wrong += ((volatile uint8_t*)to)[i] != (i >= target && i < target + bytes ? inside : (uint8_t)(i ^ 0x55u));
          }
          ++copied;
        }
        static void put(uint32_t value) {
          for (int32_t i = 28; i >= 0; i -= 4) {
            kiln_console_put((uint8_t)"0123456789abcdef"[value >> i & 15u]);
          }
        }
        int main(void) {
          for (uint32_t target = 4; target < 8; ++target) {
            for (uint32_t source = 4; source < 8; ++source) {
              for (uint32_t bytes = 0; bytes < 150; ++bytes) {
                copy(target, source, bytes);
              }
            }
          }
          put(copied);
          kiln_console_put(' ');
          put(wrong);
          kiln_console_text("\\n");
          return 0;
        }
        """;

    private static final int COPIED = 4 * 4 * 150;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "mps2-an385, SPEED",
        "mps2-an385, SIZE",
        "mps3-an547, SPEED",
        "microbit, SPEED",
        "microbit, SIZE",
        "qemu-riscv32, SPEED"
    })
    void copiesAreThoseOfBytes(String id, Optimize optimize) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "clang", optimize, PROGRAM, folder);

        StringBuilder text = new StringBuilder();
        try (RunningProcess process = Emulator.of(board, Duration.ofSeconds(60)).start(image)) {
            ImageConsole.follow(
                    process.output(), Duration.ofSeconds(60), text::append, piece -> text.indexOf("\n") >= 0);
        }
        assertThat(text.toString()).contains(String.format(Locale.ROOT, "%08x %08x", COPIED, 0));
    }
}
