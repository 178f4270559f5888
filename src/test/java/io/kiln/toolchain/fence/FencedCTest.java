// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencedCTest {
    /** Inside of a function, quotes for strings written as backquotes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "asm(`.incbin x`);",
                "__asm(`nop\\n.incbin x`);",
                "__asm__(`nop;.incbin x`);",
                "__asm__ volatile(`nop ; .incbin x`);",
                "asm(`1: .incbin x`);",
                "asm(`a: b: 1: .incbin x`);",
                "asm(`a%=: .incbin x`);",
                "asm(`.inc` `bin x`);",
                "asm(`\\x2eincbin x`);",
                "asm(`\\56incbin x`);",
                "asm(`nop\\r.incbin x`);",
                "asm(`nop\\x0a.incbin x`);",
                "asm(`nop\\v.incbin x`);",
                "asm(`.inc\\\\()bin x`);",
                "asm(`.rept 1\\n.inc\\\\()bin x\\n.endr`);",
                "asm(`.rept 1\\n.incbin x\\n.endr`);",
                "asm(`.rept 1\\nnop`);",
                "asm(`.endr`);",
                "asm(`.rept 60000\\n.rept 60000\\nnop\\n.endr\\n.endr`);",
                "asm(`.rept %c0\\nnop\\n.endr` : : `i`(4));",
                "asm(`.rep 2\\nnop\\n.endr`);",
                "asm(`.irp x, a\\nnop\\n.endr`);",
                "asm(`.macro a\\n.endm`);",
                "asm(`.altmacro`);",
                "asm(`.include x`);",
                "asm(`.set x, 1`);",
                "asm(`.section .init_array`);",
                "asm(`.pushsection .gnu.lto_x`);",
                "asm(`.byte 1`);",
                "asm(`.ltorg; .incbin x`);",
                "asm(`.ltorg .incbin x`);",
                "asm(`.option arch, +zba`);",
                "asm(`.syntax divided`);",
                "asm(`.align 4, x`);",
                "asm(`. = 4`);",
                "asm(`x = 4`);",
                "asm(`x =4`);",
                "asm(`x  ==4`);",
                "asm(`x=4`);",
                "asm(`foo .req r0`);",
                "asm(`nop .incbin x`);",
                "asm(`ldr r0, \\`x\\``);",
                "asm(`ldr r0, 'x`);",
                "asm(`nop // x`);",
                "asm(`nop /* x */`);",
                "asm(`nop @ x`);",
                "asm(`nop | nop`);",
                "asm(`%c0incbin x` : : `i`(0));",
                "asm(`# 1 \\`x\\``);",
                "asm(`#x`);",
                "asm(`{.incbin x|nop}`);",
                "asm(`{nop}`);",
                "asm(`foo {:} .{}incbin x` : : `i`(0));",
                "asm(`foo %i0: .%i0incbin x` : : `r`(0));",
                "asm(`foo %i0: .Lx: nop` : : `r`(0));",
                "asm(`foo %i0= 4` : : `r`(0));",
                "asm(`foo {}= 4` : : `r`(0));",
                "asm(`ldr r0, [r1] : nop`);",
                "asm(`ldr r0, .{}x` : : `r`(0));",
                "extern int g(void) asm(`two words`);",
                "extern int g(int) __attribute__((unused)) asm(`two words`);",
                "extern int x __attribute__((unused)) asm(`two words`);",
                "extern int x[1] __attribute__((unused)) asm(`two words`);",
                "asm(`-nop`);",
                "asm(L`nop`);",
                "asm(u8`nop`);",
                "asm(R`(nop)`);",
                "asm(x);",
                "asm((`nop`));",
                "asm(`nop` + 1);",
                "asm(`nop` x);",
                "asm nop;",
                "asm { nop };",
                "__asm nop",
                "_asm(`nop`);",
                "asm(`nop` : : : `r0\\n.incbin x`);",
                "asm(`nop` : `=r\\n`(x));",
                "asm(`nop` : : L`r`(x));",
                "asm volatile goto(`.incbin x` : : : : l); l:",
                "x = ({ asm(`.incbin x`); 1; });",
                "asm(`nop` : `=r`(({ int y; asm(`.incbin x` : `=r`(y)); y; })));",
                "if (x) asm(`.incbin x`);",
                "else asm(`.incbin x`);",
                "do asm(`.incbin x`); while (0);",
                "l: asm(`.incbin x`);",
                "__attribute__((unused)) asm(`.incbin x`);",
                "__extension__ asm(`.incbin x`);",
                "extern int x asm(`y`);",
                "register int x asm(`.incbin`);",
                "register int x asm(`r0 .incbin`);",
                "register int x asm(`r0`); asm(`.incbin x`);",
                "_Pragma(`x`)",
                "__pragma(x)",
                "__declspec(allocate(`x`)) int y;",
                "int x[[gnu::section(`.init_array`)]];",
                "int x [ [gnu::section(`.init_array`)]];",
                "int x<:3:>;",
                "<% x; %>",
                "%:include `x`",
                "??=include `x`",
                "`??/``;",
                "x = `a\\\n b`;",
                "#include `x`",
                "# include <x>",
                "\t#embed `x`",
                "#define x",
                "#line 3 `x`",
                "#ident `x`",
                "#pragma GCC dependency `x`",
                "#pragma GCC pch_preprocess `x`",
                "#pragma clang module load x",
                "#pragma clang section text=`x`",
                "#pragma comment(lib, `x`)",
                "#pragma redefine_extname a b",
                "#pragma weak a = b",
                "#pragma include_alias(`a`, `b`)",
                "#pragma pack(push, x)",
                "# 1 `/etc/passwd`",
                "# 1 `../x.c`",
                "# 1 `a.c` 5",
                "#1 `a.c`",
                "x # y",
                "x\\\ny",
                "x\ry",
                "x\fy",
                "x\u00e9y",
                "`\u00e9`",
                "\0",
                "$x",
                "@x",
                "`a",
                "'a",
                "1'0",
                "x'0'",
                "x`0`",
                "LR`(x)`",
                "// x",
                "/* x */",
                "\\u00e9",
                "__attribute__((constructor)) void f(void);",
                "__attribute__((__destructor__(101))) void f(void);",
                "__attribute__((ifunc(`r`))) void f(void);",
                "__attribute__((weakref(`r`))) void f(void);",
                "__attribute__((cleanup(f))) int x;",
                "__attribute__((optimize(`-fplugin=x`))) void f(void);",
                "__attribute__((target(`arch=x\\n.incbin`))) void f(void);",
                "__attribute__((annotate(`x`))) int x;",
                "__attribute__((alias(`a b`))) int x;",
                "__attribute__((section(`.init_array`))) int x;",
                "__attribute__((section(`.init` `_array`))) int x;",
                "__attribute__((section(`.gnu.lto_.decls`))) int x;",
                "__attribute__((section(`.gnu.lto_`), unused)) int x;",
                "__attribute__((unused, section(`.ctors`))) int x;",
                "__attribute__((section(`.text.x y`))) int x;",
                "__attribute__((section(`.text,\\`ax\\`#`))) int x;",
                "__attribute__((section(`.note.x`))) int x;",
                "__attribute__((section(`.deplibs`))) int x;",
                "__attribute__((section(`.linker-options`))) int x;",
                "__attribute__((section(`.debug_info`))) int x;",
                "__attribute__((section(`.gnu_debuglink`))) int x;",
                "__attribute__((section(`.gnu_debugaltlink`))) int x;",
                "__attribute__((section(`.gnu_debugdata`))) int x;",
                "__attribute__((section(`.gdb_index`))) int x;",
                "__attribute__((section(`.stab`))) int x;",
                "__attribute__((section(`.stabstr`))) int x;",
                "__attribute__((section(`.ctf`))) int x;",
                "__attribute__((section(`.dynsym`))) int x;",
                "__attribute((section(`.interp`))) int x;",
                "__attribute__((section(L`.text`))) int x;",
                "__attribute__((unused(`x`))) int x;",
                "__attribute__(unused) int x;",
                "__attribute__((unused) int x;",
                "__attribute__((unused"
            })
    void whatIsNotInTheLanguageIsRefused(String code) {
        assertThat(board(inFunction(code))).isNotEmpty();
        assertThat(host(inFunction(code))).isNotEmpty();
    }

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

    private static String inFunction(String code) {
        return "# 1 `a.c`\nint x, *p;\nvoid f(void) {\n" + code + "\n}\n";
    }

    private static List<Refusal> board(String text) {
        return refusals(text, Dialect.BOARD);
    }

    private static List<Refusal> host(String text) {
        return refusals(text, Dialect.HOST);
    }

    private static List<Refusal> refusals(String text, Dialect dialect) {
        byte[] bytes = text.replace('`', '"').getBytes(StandardCharsets.UTF_8);
        return FencedC.refusals(bytes, dialect, List.of("a.c", "a.h", "include/stdint.h")::contains);
    }
}
