// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.device.emulator.ProgramWatch.Kind;
import io.kiln.device.emulator.ProgramWatch.Verdict;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.Ends;
import io.kiln.device.protocol.ImageConsole;
import io.kiln.device.protocol.ImageConsole.End;
import io.kiln.device.protocol.ModelSession;
import io.kiln.toolchain.board.Board;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the boards' fault handlers and the host together say of a fault. */
class BoardFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "mps2-an385,clang",
        "mps2-an386,gnu",
        "mps2-an500,clang",
        "mps2-an505,gnu",
        "mps3-an547,clang",
        "microbit,clang",
        "stm32f405,clang",
        "qemu-riscv32,clang"
    })
    void aStackOverflowIsNotSilent(String id, String toolchain) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, toolchain, """
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
        "mps2-an385,gnu",
        "mps2-an386,clang",
        "mps2-an500,gnu",
        "mps2-an505,clang",
        "mps3-an547,gnu",
        "microbit,gnu",
        "qemu-riscv32,gnu"
    })
    void aLargeFrameIsNamedWithItsFunctionAndASmallerOneIsMeasured(String id, String toolchain) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        String code = """
            __attribute__((noinline)) int shallow(int n);
            __attribute__((noinline)) int large(int n);
            int shallow(int n) { volatile char a[640]; a[n] = 1; return a[n]; }
            int large(int n) {
              volatile char a[SIZE];
              for (int i = 0; i < SIZE; ++i) a[i] = (char)n;
              return a[n] - n;
            }
            int main(void) { volatile int n = 3; return shallow(n) - 1 + large(n); }
            """;
        Path tooBig = HandWrittenModel.withMain(board, toolchain, code.replace("SIZE", "9216"), folder.resolve("big"));
        FaultWatch faults = new FaultWatch(text -> {});
        try (WatchedProgram program = Emulator.of(board, LIMIT).watch(tooBig)) {
            End end = ImageConsole.follow(program.output(), LIMIT, faults, text -> false);
            assertThat(Ends.code(end)).isEqualTo(70);
        }
        int size = id.equals("microbit") ? 2048 : 4096;
        assertThat(faults.problem(tooBig).orElseThrow().text())
                .startsWith("large (")
                .contains("the stack overflowed: ", String.format(Locale.ROOT, "%,d bytes were", size));

        Path fits = HandWrittenModel.withMain(board, toolchain, code.replace("SIZE", "1500"), folder.resolve("fits"));
        StackUse one = used(board, fits);
        assertThat(one.available()).isEqualTo(size);
        assertThat(one.used()).isBetween(1500L, 1800L);
        assertThat(one.problem()).isEmpty();
        Path more = HandWrittenModel.withMain(board, toolchain, code.replace("SIZE", "1564"), folder.resolve("more"));
        assertThat(used(board, more).used() - one.used()).isEqualTo(64);
    }

    private static StackUse used(Board board, Path image) {
        try (WatchedProgram program = Emulator.of(board, LIMIT).watch(image)) {
            End end = ImageConsole.follow(program.output(), LIMIT, text -> {}, text -> false);
            assertThat(Ends.code(end)).isZero();
            return program.stackUse(((End.Returned) end).stackUsed()).orElseThrow();
        }
    }

    @Test
    void aProgramThatNeverEndsIsMeasuredInItsMemoryAndStoppedAfterItsOwnTime() throws IOException {
        Board board = HandWrittenModel.board("mps2-an386");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "clang", """
            __attribute__((noinline)) int large(int n);
            int large(int n) { volatile char a[3000]; for (int i = 0; i < 3000; ++i) a[i] = 1; return a[n]; }
            int main(void) { volatile int n = 3; for (;;) n = large(n); }
            """, folder);
        Duration second = Duration.ofSeconds(1);
        try (WatchedProgram program = Emulator.of(board, second).watch(image)) {
            End end = ImageConsole.follow(program.output(), second, text -> {}, text -> false);
            assertThat(end).isEqualTo(new End.TimeOver());
            assertThat(program.output().now()).isGreaterThanOrEqualTo(second.toNanos());
            assertThat(program.stackUse(OptionalLong.empty()).orElseThrow().used())
                    .isBetween(3000L, 3200L);
        }
        Verdict verdict = new ProgramWatch(Emulator.of(board, second)).watch(image);
        assertThat(verdict.kind()).isEqualTo(Kind.FINE);
        assertThat(verdict.stack().orElseThrow().used()).isBetween(3000L, 3200L);
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
        Path image = HandWrittenModel.withMain(board, toolchain, """
            void poke(volatile int* where, int what);
            void poke(volatile int* where, int what) {
              *where = what;
            }
            int main(void) {
              void (*volatile call)(volatile int*, int) = poke;
              call((volatile int*)%s, 3);
              return 0;
            }
            """.formatted(address), folder);
        String expected = id.equals("microbit") ? "a fault" : "address " + address;
        assertThatThrownBy(() -> Emulator.of(board, LIMIT)
                        .talk(image, new ConsoleProtocol(LIMIT), text -> {}, ModelSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(expected)
                .hasMessageMatching("(?s).*poke \\([^ ]*main\\.c:3\\), called from main \\([^ ]*main\\.c:7\\).*")
                .hasMessageContaining("code 70");
    }
}
