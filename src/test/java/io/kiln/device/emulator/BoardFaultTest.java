// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ModelSession;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the boards' fault handlers and the host together say of a fault. */
class BoardFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"mps2-an386", "mps3-an547", "microbit", "qemu-riscv32"})
    void aStackOverflowIsNotSilent(String id) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "clang", """
            #include <stdint.h>
            static int down(volatile int* above, int depth) {
              volatile int here[16];
              here[0] = *above + depth;
              return depth == 0 ? here[0] : down(here, depth - 1) + here[depth % 16];
            }
            int main(void) { volatile int start = 0; return down(&start, 1000000); }
            """, folder);
        assertThatThrownBy(() -> Emulator.of(board, LIMIT)
                        .talk(image, new ConsoleProtocol(LIMIT), text -> {}, ModelSession::models))
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
        "mps3-an547,gnu,0x15000000",
        "microbit,clang,0xd0000000",
        "qemu-riscv32,clang,0x00200000",
        "qemu-riscv32,gnu,0x00200000",
    })
    void aWrongWriteIsNamedWithItsLineAndItsAddress(String id, String toolchain, String address) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, toolchain, String.format(Locale.ROOT, """
            void poke(volatile int* where, int what);
            void poke(volatile int* where, int what) {
              *where = what;
            }
            int main(void) {
              void (*volatile call)(volatile int*, int) = poke;
              call((volatile int*)%s, 3);
              return 0;
            }
            """, address), folder);
        String expected = id.equals("microbit") ? "a fault" : "address " + address;
        assertThatThrownBy(() -> Emulator.of(board, LIMIT)
                        .talk(image, new ConsoleProtocol(LIMIT), text -> {}, ModelSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(expected)
                .hasMessageMatching("(?s).*poke \\([^ ]*main\\.c:3\\), called from main \\([^ ]*main\\.c:7\\).*")
                .hasMessageContaining("code 70");
    }
}
