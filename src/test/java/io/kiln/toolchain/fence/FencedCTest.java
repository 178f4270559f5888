// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import static io.kiln.toolchain.fence.FencedTexts.board;
import static io.kiln.toolchain.fence.FencedTexts.host;
import static io.kiln.toolchain.fence.FencedTexts.inFunction;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.toolchain.fence.Refusals.Refusal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencedCTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "asm(`dsb\\n\\tisb` ::: `memory`);",
                "asm volatile(`wfi`);",
                "__asm__ __volatile__(`mrs %0, primask` : `=r`(x) : : `memory`, `cc`);",
                "asm(`ldr r0, =__stack_top\\n\\tmov sp, r0\\n\\t.ltorg\\n\\t`);",
                "asm(`1: j 1b`);",
                "asm(`vldrw.u32 q0, [%[p]], #16\\nvmladava.s8 r0, q0, q1` : [p] `+r`(p) : : `q0`, `q1`);",
                "asm(`.rept 3\\n  smlad r0, r1, r2, r0\\n.endr\\n`);",
                "asm(`.set .Lkiln_at, 8\\n.rept 3\\nldr r0, [r1, #.Lkiln_at * 2 + 4]\\n.set .Lkiln_at, .Lkiln_at + 8\\n.endr`);",
                "asm(`push {r4-r7, lr}; pop {r4-r7, pc}`);",
                "asm(`.option push\\n.option norvc\\nlw t0, 0(sp)\\n.option pop`);",
                "asm(`loop%=: subs %0, #1\\nbne loop%=` : `+r`(x));",
                "register unsigned r0 __asm__(`r0`) = 3;",
                "register float x[1] asm(`s0`);",
                "asm goto(`b %l[there]` : : : : there); there:;",
                "int y __attribute__((section(`.dtcm_data`), aligned(16), used));",
                "int y __attribute__((section(`.rodata.tvm`), ));",
                "void z(void) __attribute__((weak, alias(`w`)));",
                "void z(void) __attribute__((target(`arch=armv8-m.main+mve`)));"
            })
    void whatBoardsNeedIsInTheLanguageButNotOnThisComputer(String code) {
        assertThat(board(inFunction(code))).isEmpty();
        if (!code.contains(".rodata.tvm")) {
            assertThat(host(inFunction(code))).isNotEmpty();
        }
    }

    @Test
    void ordinaryCIsInTheLanguage() {
        String text = """
                # 0 `a.c`
                # 0 `<built-in>`
                # 0 `<command-line>`
                # 1 `include/stdint.h` 1 3 4
                # 1 `a.c` 2
                typedef struct { int x; } __attribute__((packed, aligned(4))) T;
                static const unsigned char text[] = `a\\`b\\\\ \\x41\\n` L`x` u8`y`; char c = '\\'', d = L'x';
                static const float f[3] = {0x1.8p+1f, 1.5e-3f, .5};
                #pragma pack(push, 1)
                #pragma GCC diagnostic ignored `-Wconversion`
                #pragma clang loop unroll(disable)
                #pragma STDC FP_CONTRACT OFF
                int g(int a, ...) __attribute__((format(printf, 1, 2), visibility(`default`)));
                int h(int *p) { return a ? b : p[x[1]] % 3 > 4 ? ~1 : !2 ^ 3 | 4 && 5 || 6; }
                """;
        assertThat(board(text)).isEmpty();
        assertThat(host(text)).isEmpty();
    }

    @Test
    void headersOfThisComputerGiveNamesAndNothingElseDoes() {
        assertThat(host("extern int f(char *a) __asm__ (`` `__isoc99_f`) __attribute__((nothrow));"))
                .isEmpty();
        assertThat(host("extern int f(char *a) __asm__ (`a b`);")).isNotEmpty();
        assertThat(host("__extension__ asm(`syscall`);")).isNotEmpty();
        assertThat(host("void g(void) { while (sizeof(int (*)(register int))) asm(`syscall`); }"))
                .isNotEmpty();
        assertThat(host("void f(void) __attribute__((weak));")).isNotEmpty();
        assertThat(host("int x __attribute__((section(`.text.x`)));")).isNotEmpty();
        assertThat(host("int x __attribute__((section(`.bss.noinit.tvm`)));")).isEmpty();
    }

    @Test
    void everythingIsNamedAtOnceWithFileAndLine() {
        String text = """
                # 1 `a.c`
                int x;
                # 7 `a.h` 1
                int y asm(`z`);
                # 3 `a.c` 2
                void f(void) {
                  asm(`.incbin x`);
                }
                """;
        assertThat(board(text))
                .containsExactly(
                        new Refusal("a.h", 7, "the symbol name z given by asm"),
                        new Refusal("a.c", 4, "the assembler directive .incbin x"));
    }

    /** The name of a line marker, the arguments of a pragma, labels: each as long as a source can make it. */
    @Test
    void lengthIsNoProblem() {
        assertThat(board("# 1 `" + "\\\\".repeat(100_000) + "`\n")).hasSize(1);
        assertThat(board("#pragma clang loop" + " unroll(full)".repeat(100_000) + "\n"))
                .hasSize(1);
        assertThat(board(inFunction("asm(`" + "a:".repeat(300_000) + "`);"))).isEmpty();
        assertThat(board(inFunction("int y __attribute__((section(" + "`a` ".repeat(200_000) + ")));")))
                .hasSize(1);
    }
}
