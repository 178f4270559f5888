// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.ResourceTree;
import io.kiln.toolchain.fence.Refusals.Refusal;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinkerScriptTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "INPUT(x.o)",
                "GROUP(x.o)",
                "AS_NEEDED(x.o)",
                "STARTUP(x.o)",
                "SEARCH_DIR(.)",
                "OUTPUT(x)",
                "MAP(x)",
                "TARGET(binary)",
                "OUTPUT_FORMAT(binary)",
                "OUTPUT_FORMAT(plugin)",
                "PLUGIN(x)",
                "VERSION { x { *; }; }",
                "INSERT AFTER .text",
                "INCLUDE other.ld",
                "INCLUDE /etc/passwd",
                "INCLUDE \"/etc/passwd\"",
                "INCLUDE ../memory.ld",
                "INCLUDE/**/other.ld",
                "INPUT/**/(x)",
                "/* */INPUT(x)",
                "# /*\nINPUT(x)\n# */",
                "// /*\nINPUT(x)\n// */",
                "ASSERT(1, \"/*\") INPUT(x) ASSERT(1, \"*/\")",
                "ASSERT(1, \"\\\") INPUT(x) ASSERT(1, \"\")",
                "SECTIONS { .x : { KEEP(/etc/x.o(.text)) } }",
                "SECTIONS { .x : { /etc/x.o } }",
                "SECTIONS { .x : { x.o } }",
                "SECTIONS { .x : { x.o(.text) } }",
                "SECTIONS { .x : { libc.a:x.o(.text) } }",
                "SECTIONS { .x : { */etc/passwd(.text) } }",
                "SECTIONS { .x : { \"/etc/x.o\"(.text) } }",
                "SECTIONS { .x : { ..\\\\x.o(.text) } }",
                "SECTIONS { .x : { =/etc/x.o(.text) } }",
                "SECTIONS { .x : { INPUT_SECTION_FLAGS (SHF_ALLOC) x.o(.text) } }",
                "SECTIONS { INCLUDE /etc/passwd }",
                "SECTIONS { .x : { INCLUDE /etc/passwd } }",
                "SECTIONS { INPUT(x) }",
                "SECTIONS { .x : { CREATE_OBJECT_SYMBOLS } }",
                "SECTIONS { .x : { *(.x) ",
                "SECTIONS { .debug_gdb_scripts 0 (INFO) : { BYTE(4) } }",
                "SECTIONS { .debug_gdb_scripts : { *(.x) } }",
                "SECTIONS { .gnu_debuglink 0 : { *(.x) } }",
                "SECTIONS { .gnu_debugaltlink 0 : { LONG(0) } }",
                "SECTIONS { .gnu.lto_main 0 : { *(.x) } }",
                "SECTIONS { .interp : { *(.x) } }",
                "SECTIONS { .gdb_index 0 : { LONG(8) } }",
                "SECTIONS { .stab 0 : { LONG(8) } }",
                "SECTIONS { .ctf 0 : { *(.x) } }",
                "SECTIONS { .debug_info 0 : { LONG(0) } }",
                "SECTIONS { .debug_info 0 : { *(.x) } }",
                "SECTIONS { .debug_info 0 : { KEEP(*(SORT(.x*))) } }",
                "SECTIONS { .debug_info 0 : { *.o } }",
                "SECTIONS { .debug_info 0 : { *(.debug_info EXCLUDE_FILE(*a.o) .x) } }",
                "MEMORY { INCLUDE /etc/passwd }",
                "MEMORY { A : ORIGIN = 0, LENGTH = 1K } INPUT(x)",
                "MEMORY { A : ORIGIN = 0, LENGTH = 1K INPUT(x) }",
                "MEMORY { A : ORIGIN = 0, LENGTH = 1K INCLUDE other.h }",
                "MEMORY { A : ORIGIN = 0, LENGTH = (1K + INCLUDE other.h }",
                "MEMORY { A : ORIGIN = 0 INCLUDE other.h, LENGTH = 1K }",
                "SECTIONS { .x 0 INCLUDE other.h : { *(.x) } }",
                "a = b INCLUDE other.h;",
                "a = b INSERT AFTER .text;",
                "a = INPUT(x);",
                "a = b INPUT(x);",
                "a = b; GROUP(x)",
                "PROVIDE(a = 1) INPUT(x)",
                "ENTRY(/etc/passwd)",
                "EXTERN(a b/c)",
                "a/b = 1;",
                "a = 1\0;",
                "a = 1;\u00a0INPUT(x)",
                "$a = 1;",
                "@a = 1;",
                "`a = 1;",
                "OVERLAY : { .a { x.o(.text) } }",
                "NOCROSSREFS(.a .b)",
                "FORCE_COMMON_ALLOCATION LD_FEATURE(\"SANE_EXPR\")"
            })
    void whatReachesBeyondTheImageIsRefused(String script) {
        assertThat(LinkerScript.refusals("a.ld", "/* one */\n" + script, Set.of("memory.ld")))
                .isNotEmpty()
                .allSatisfy(refusal -> assertThat(refusal.where()).startsWith("a.ld:2"));
    }

    @Test
    void lengthIsNoProblem() {
        assertThat(LinkerScript.refusals("a.ld", "a = b" + "-b".repeat(100_000) + ";", Set.of()))
                .isEmpty();
        assertThat(LinkerScript.refusals("a.ld", "a = " + "(".repeat(100_000) + "1", Set.of()))
                .hasSize(1);
        assertThat(LinkerScript.refusals("a.ld", "SECTIONS { .x : { *(" + "SORT(".repeat(100_000) + "x", Set.of()))
                .hasSize(1);
    }

    @Test
    void whatIsRefusedIsNamedWithItsLine() {
        Refusal refusal = LinkerScript.refusals("a.ld", "MEMORY\n{\n}\n\nINPUT(/etc/passwd)\n", Set.of())
                .get(0);
        assertThat(refusal).isEqualTo(new Refusal("a.ld", 5, "the linker command INPUT"));
    }

    @Test
    void whatLinkerScriptsOrdinarilySayIsAllowed() {
        String script = """
                /* INPUT() is a word of a comment here; see https://example.com/ld */
                OUTPUT_FORMAT("elf32-littlearm", "elf32-littlearm", "elf32-littlearm")
                OUTPUT_ARCH(arm)
                ENTRY(Reset_Handler)\r
                EXTERN(a b)
                _estack = ORIGIN(RAM) + LENGTH(RAM);
                _Min_Heap_Size = 0x200 ;
                size = DEFINED(x) ? 0x10-4 : (1 << 4)*2;
                MEMORY {
                  FLASH (rx!w) : ORIGIN = 0x08000000, LENGTH = 512K / 2
                  RAM (xrw)  : org = 0x20000000, len = 64*1024 +
                    1K
                }
                REGION_ALIAS("CODE", FLASH);
                SECTIONS {
                  .isr_vector 0x08000000 : { . = ALIGN(4); KEEP(*(.isr_vector)) } >FLASH =0xff
                  .text : { *crt0.o(.text) *(EXCLUDE_FILE(*x.o *y.o) .text.*) KEEP (*(.init)) *(.glue_7t) _etext = .; } > CODE
                  .init_array : ALIGN(4) {
                    PROVIDE_HIDDEN (__init_array_start = .);
                    KEEP (*(SORT(.init_array.*)))
                    KEEP (*(SORT_BY_INIT_PRIORITY(.ctors.*) .ctors))
                  } >FLASH
                  .data : AT (ADDR(.text) + SIZEOF(.text)) SUBALIGN(4) { *(.data .data.*) LONG(0x12345678) FILL(0xff) } >RAM
                  .more : { *(.more) } >RAM AT> FLASH
                  ._user_heap_stack (NOLOAD) : { . = ALIGN(8); . += _Min_Heap_Size; ASSERT(. < 1M, "too big") } >RAM
                  .boot2 : { *(.boot2) } > CODE
                  PROVIDE(end = .);
                  .debug_info 0 : { *(.debug_info .gnu.linkonce.wi.*) }
                  .stab.indexstr 0 : { *(.stab.indexstr) }
                  .debug_line 0 (INFO) : { *(.debug_line .debug_line.* .debug_line_end) }
                  /DISCARD/ : { *(.comment) *(.ARM.attributes) }
                }
                INCLUDE memory.ld
                INCLUDE "memory.ld"
                ASSERT(SIZEOF(.boot2) == 256, "the second stage: 256 bytes, not / more")
                """;
        assertThat(LinkerScript.refusals("a.ld", script, Set.of("memory.ld"))).isEmpty();
    }

    private static final Set<String> PARTS = Set.of(
            "sections.ld",
            "sections.code.ld",
            "sections.ram.ld",
            "sections.data.ld",
            "memories.ld",
            "memories.parameters.ld",
            "memories.slots.ld");

    @Test
    void theBuiltInScriptsAreAllowed() {
        ResourceTree.read("toolchains/boards").forEach((name, content) -> {
            if (name.endsWith(".ld")) {
                assertThat(LinkerScript.refusals(name, content.text(), PARTS))
                        .as(name)
                        .isEmpty();
            }
        });
    }
}
