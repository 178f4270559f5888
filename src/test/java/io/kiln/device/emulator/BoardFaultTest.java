// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.device.emulator.ProgramWatch.Kind;
import io.kiln.device.emulator.ProgramWatch.Verdict;
import io.kiln.device.emulator.ProgramWatch.WatchedProgram;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.fault.StackUse;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.End;
import io.kiln.device.protocol.Ends;
import io.kiln.device.protocol.ModelSession;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the boards' fault handlers and the host together say of a fault. */
class BoardFaultTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    /** One image for each kind of guard; a letter on its console says how deep it shall go. */
    private static final String DEPTHS = """
        #include <stdint.h>
        #include "kiln_console.h"
        __attribute__((noinline)) int small(int n);
        __attribute__((noinline)) int more(int n);
        __attribute__((noinline)) int large(int n);
        __attribute__((noinline)) int down(volatile int* above, int depth);
        extern char __stack_top[];
        static uintptr_t lowest;
        #define FILL(name, words) int name(int n) { \\
          volatile int a[words]; \\
          for (int i = 0; i < (words); ++i) a[i] = n; \\
          lowest = (uintptr_t)a; \\
          return a[n]; \\
        }
        FILL(small, 256)
        FILL(more, 300)
        FILL(large, 2304)
        int down(volatile int* above, int depth) {
          volatile int here[16];
          here[0] = *above + depth;
          return depth == 0 ? here[0] : down(here, depth - 1) + here[depth % 16];
        }
        int main(void) {
          volatile int n = 3;
          n = small(n);
          kiln_console_put('?');
          switch (kiln_console_get()) {
            case 'm': n = more(n); break;
            case 'l': n = large(n); break;
            case 'd': return down(&n, 1000000);
            default: break;
          }
          return (int)((uintptr_t)__stack_top - lowest);
        }
        """;

    private record Ran(int code, Optional<Problem> fault, Optional<StackUse> stack) {}

    @ParameterizedTest
    @CsvSource({
        "mps2-an385,gnu",
        "mps2-an386,clang",
        "mps2-an500,gnu",
        "mps2-an505,clang",
        "mps3-an547,gnu",
        "microbit,clang",
        "stm32f405,gnu",
        "qemu-riscv32,clang"
    })
    void everyGuardEndsAnOverflowAndAStackThatSufficesIsMeasured(String id, String toolchain) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, toolchain, DEPTHS, folder);
        int size = id.equals("microbit") ? 2048 : 4096;

        Ran small = run(board, image, 's');
        Ran more = run(board, image, 'm');
        // The code is what the program knows itself of its depth.
        assertThat(small.code()).isBetween(1024, 1180);
        assertThat(small.stack()).contains(new StackUse(small.code(), size));
        assertThat(more.code()).isBetween(1200, 1360);
        assertThat(more.stack()).contains(new StackUse(more.code(), size));
        assertThat(more.stack().orElseThrow().problem()).isEmpty();

        Ran large = run(board, image, 'l');
        assertThat(large.code()).isEqualTo(70);
        assertThat(large.fault().orElseThrow().text())
                .startsWith("large (")
                .contains(
                        "the stack overflowed: ", String.format(Locale.ROOT, "%,d bytes were", size), "__stack_size: ");
        Ran deep = run(board, image, 'd');
        assertThat(deep.code()).isEqualTo(70);
        assertThat(deep.fault().orElseThrow().text()).startsWith("down (").contains("the stack overflowed");
    }

    /** The core pushes 32 bytes; the handler needs room of its own, and must not take it from them. */
    private static final String NEAR_THE_BOTTOM = """
        #include <stdint.h>
        #include "kiln_console.h"
        #include "kiln_stack.h"
        __attribute__((naked, noinline)) void fall(uint32_t* to);
        void fall(uint32_t* to) {
          __asm__ volatile("mov sp, r0\\n\\tldr r1, =0xd0000000\\n\\tFAULT\\n\\tbx lr\\n\\t.ltorg");
        }
        int main(void) {
          kiln_console_put('?');
          fall(__stack_bottom + 2 * (kiln_console_get() - ' '));
          return 0;
        }
        """;

    @ParameterizedTest
    @CsvSource({
        "mps2-an386,clang,'str r1, [r1]',data were accessed",
        "microbit,gnu,'str r1, [r1]',a fault",
        "mps2-an505,gnu,'sub sp, #1200',the stack overflowed",
        "mps2-an505,clang,'str r1, [r1]',data were accessed"
    })
    void aFaultNearTheBottomOfTheStackIsNamedWhateverRoomIsLeft(
            String id, String toolchain, String instructions, String expected) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image =
                HandWrittenModel.withMain(board, toolchain, NEAR_THE_BOTTOM.replace("FAULT", instructions), folder);
        for (int left : List.of(0x20, 0x28, 0x40, 0x78, 0x100, 0x188, 0x1a0, 0x1f0, 0x218, 0x220, 0x228)) {
            Ran ran = run(board, image, (char) (' ' + left / 8));
            assertThat(ran.code()).isEqualTo(70);
            String text = ran.fault().orElseThrow().text();
            assertThat(text).as("%s bytes left", left).contains(expected);
            // With no byte left below the frame, the core's limit says that it may not have been pushed.
            if (left > 0x20 || !expected.startsWith("the stack")) {
                assertThat(text).as("%s bytes left", left).startsWith("fall (").contains("called from main (");
            }
        }
    }

    /** Armv8-M leaves the stack pointer at its limit, so that nobody knows how much more was needed. */
    @Test
    void aCallerIsNotBlamedForAnExcessThatNobodyKnows() throws IOException {
        Board board = HandWrittenModel.board("mps2-an505");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "gnu", NEAR_THE_BOTTOM.replace("FAULT", "sub sp, #1200"), folder);
        assertThat(run(board, image, (char) (' ' + 2)).fault().orElseThrow().text())
                .matches("main \\([^ ]*main\\.c:[0-9]+\\), or a function that it calls: the stack overflowed.*");
    }

    /** A thread of the program's own: its stack is not the image's, whose words say nothing of it. */
    private static final String ON_A_THREAD = """
        #include <stdint.h>
        #include "kiln_console.h"
        #include "kiln_stack.h"
        __attribute__((aligned(8))) static uint32_t stack[64];
        __attribute__((naked, noinline)) void fall(void* stack, void* limit);
        void fall(void* to, void* limit) {
          __asm__ volatile(
        #if __ARM_ARCH >= 8
              "msr psplim, r1\\n\\t"
        #endif
              "msr psp, r0\\n\\tmovs r2, #2\\n\\tmsr control, r2\\n\\tisb\\n\\t"
              "ldr r1, =0xd0000000\\n\\tFAULT\\n\\tbx lr\\n\\t.ltorg");
        }
        int main(void) {
          fall(STACK, stack);
          return 0;
        }
        """;

    @ParameterizedTest
    @CsvSource({
        "mps2-an386,gnu,stack + 8,'str r1, [r1]',fall (",
        "mps2-an386,gnu,__stack_guard + 4,'str r1, [r1]',the stack of a thread overflowed",
        "mps2-an505,gnu,stack + 16,'sub sp, #1200',fall (",
        "mps2-an505,clang,stack + 2,'sub sp, #1200',the stack of a thread overflowed",
        "mps2-an505,clang,stack + 16,'str r1, [r1]',fall ("
    })
    void theStackOfAThreadIsNotTheImages(
            String id, String toolchain, String stack, String instructions, String expected) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        String code = ON_A_THREAD.replace("FAULT", instructions).replace("STACK", stack);
        Path image = HandWrittenModel.withMain(board, toolchain, code, folder);
        Problem fault = run(board, image, 's').fault().orElseThrow();
        assertThat(fault.text()).startsWith(expected).doesNotContain("__stack_size");
        boolean isOverflow = !instructions.startsWith("str") || !expected.startsWith("fall");
        assertThat(fault.text().contains("the stack of a thread overflowed")).isEqualTo(isOverflow);
        Verdict verdict = new ProgramWatch(Emulator.of(board, LIMIT)).watch(image);
        assertThat(verdict.kind()).isEqualTo(isOverflow ? Kind.RUNTIME : Kind.MACHINE);
    }

    /** What lies below RAM may be the chip's own, such as memory that is programmed once. */
    @Test
    void aWriteBelowTheStackThatIsFarFromItIsNoOverflow() throws IOException {
        Board board = HandWrittenModel.board("stm32f405");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(
                board, "gnu", "int main(void) { *(volatile int*)0x1fff7800 = 3; return 0; }", folder);
        assertThat(run(board, image, 's').fault().orElseThrow().text())
                .startsWith("main (")
                .contains("memory that is not accessible: address 0x1fff7800");
    }

    @ParameterizedTest
    @CsvSource({"mps2-an386", "microbit"})
    void aStackPointerAboveTheStackIsNoOverflow(String id) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "gnu", """
                int main(void) {
                  __asm__ volatile("ldr r0, =__stack_top + 256\\n\\tmov sp, r0\\n\\tldr r0, =0xd0000000\\n\\tstr r0, [r0]");
                  return 0;
                }
                """, folder);
        assertThat(run(board, image, 's').fault().orElseThrow().text())
                .startsWith("the image stopped with a fault")
                .doesNotContain("overflow");
    }

    /** A program, or a boot loader in it, may jump to the start with the guard still on. */
    @ParameterizedTest
    @CsvSource({"mps2-an386,Reset_Handler", "mps2-an505,Reset_Handler", "qemu-riscv32,_start"})
    void anImageStartsAgainWithoutAReset(String id, String start) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "gnu", """
            void START(void);
            __attribute__((section(".bss.noinit.tvm"))) static volatile int starts;
            int main(void) {
              if (starts++ < 2) START();
              return 11 + starts;
            }
            """.replace("START", start), folder);
        Ran ran = run(board, image, 's');
        assertThat(ran.fault()).isEmpty();
        assertThat(ran.code()).isEqualTo(14);
    }

    /** Its stack lies elsewhere, and it may write what this image guards. */
    @ParameterizedTest
    @CsvSource({"mps2-an386,gnu", "mps2-an505,clang"})
    void anImageThatThisOneStartsHasNoGuardOfIt(String id, String toolchain) throws IOException {
        Board board = HandWrittenModel.board(id);
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, toolchain, """
            #include "kiln_console.h"
            #include "kiln_cortex_m.h"
            #include "kiln_stack.h"
            void entry(void);
            void entry(void) {
              uint32_t limit = 0;
            #if __ARM_ARCH >= 8
              __asm__ volatile("mrs %0, msplim" : "=r"(limit));
            #endif
              __stack_bottom[-1] = 5;
              kiln_board_exit(limit == 0 ? 7 : 8);
            }
            static uint32_t stack[128];
            int main(void) {
              static uint32_t table[2];
              table[0] = (uint32_t)(uintptr_t)(stack + 128);
              table[1] = (uint32_t)(uintptr_t)&entry;
              kiln_start_image(table);
            }
            """, folder);
        Ran ran = run(board, image, 's');
        assertThat(ran.fault()).isEmpty();
        assertThat(ran.code()).isEqualTo(7);
    }

    @ParameterizedTest
    @CsvSource({"mps2-an386,clang", "qemu-riscv32,gnu"})
    void aProgramMayKeepTheMemoryProtectionForItself(String id, String toolchain) throws IOException {
        Path mine = Files.createDirectories(folder.resolve("boards/mine"));
        Files.writeString(mine.resolve("board.yaml"), """
            schema: 1
            id: mine
            extends: @
            flags: {defines: {KILN_NO_STACK_GUARD: 1}}
            """.replace("@", id));
        Board board = Boards.builtIn().with(folder.resolve("boards")).find("mine");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, toolchain, """
            #include "kiln_stack.h"
            int main(void) {
              __stack_bottom[-1] = 5;
              return 7;
            }
            """, folder);
        Ran ran = run(board, image, 's');
        assertThat(ran.fault()).isEmpty();
        assertThat(ran.code()).isEqualTo(7);
        assertThat(ran.stack()).contains(new StackUse(4100, 4096));
    }

    /** Entries of the memory protection that a boot loader has set are set anew; where code is protected, all of them. */
    @Test
    void theGuardHoldsWhateverABootLoaderLeft() throws IOException {
        Path mine = Files.createDirectories(folder.resolve("boards/mine"));
        Files.writeString(mine.resolve("board.yaml"), """
            schema: 1
            id: mine
            extends: qemu-riscv32
            """);
        SortedMap<String, Bytes> files = HandWrittenModel.board("qemu-riscv32").files();
        String script = files.get("memory.ld").text();
        String header = files.get("kiln_board.h").text();
        Files.writeString(mine.resolve("kiln_board.h"), header.replace("#define KILN_PROTECT_CODE", ""));
        String first = "SECTIONS { .first : { KEEP(*(.first)) } > CODE }\nINCLUDE sections.ld";
        Files.writeString(mine.resolve("memory.ld"), script.replace("INCLUDE sections.ld", first));
        Board board = Boards.builtIn().with(folder.resolve("boards")).find("mine");
        TestTools.need(board);
        Path image = HandWrittenModel.withMain(board, "gnu", """
            #include "kiln_stack.h"
            __attribute__((naked, used, section(".first"))) void loader(void);
            void loader(void) {
              __asm__ volatile("li t0, 0x07070000\\n\\tcsrw pmpcfg0, t0\\n\\tj _start");
            }
            int main(void) {
              *(volatile uint32_t*)(__stack_bottom - 1) = 3;
              return 0;
            }
            """, folder);
        assertThat(run(board, image, 's').fault().orElseThrow().text())
                .startsWith("main (")
                .contains("a write at an address without writable memory");
    }

    private static void send(OutputStream program, char depth) {
        try {
            program.write(depth);
            program.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Ran run(Board board, Path image, char depth) {
        try (WatchedProgram program = Emulator.of(board, LIMIT).watch(image)) {
            // A UART that is not ready would drop it.
            FaultWatch faults = new FaultWatch(text -> {
                if (text.startsWith("?")) {
                    send(program.process().input(), depth);
                }
            });
            End end = ImageConsole.follow(program.output(), LIMIT, faults, text -> false);
            OptionalLong reported = end instanceof End.Returned returned ? returned.stackUsed() : OptionalLong.empty();
            return new Ran(Ends.code(end), faults.problem(image), program.stackUse(reported));
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
              call((volatile int*)ADDRESS, 3);
              return 0;
            }
            """.replace("ADDRESS", address), folder);
        String expected = id.equals("microbit") ? "a fault" : "address " + address;
        assertThatThrownBy(() -> Emulator.of(board, LIMIT)
                        .talk(image, new ConsoleProtocol(LIMIT), text -> {}, ModelSession::models))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(expected)
                .hasMessageMatching("(?s).*poke \\([^ ]*main\\.c:3\\), called from main \\([^ ]*main\\.c:7\\).*")
                .hasMessageContaining("code 70");
    }
}
