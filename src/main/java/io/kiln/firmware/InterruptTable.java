// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.toolchain.board.Board;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Prints the vectors of a board's interrupts from its {@code interrupts.txt}: a line for each interrupt in the order of
 * their numbers, with the vendor's name of the handler, or {@code -} where there is none; lines with {@code #} are comments.
 * A firmware defines the handlers that it needs. On Cortex-M the vectors follow those of the core. On RISC-V the numbers are
 * those of the PLIC's sources, and one entry for all interrupts asks the PLIC which one it is (RISC-V PLIC specification 1.0.0).
 */
final class InterruptTable {
    /** The board's list. */
    static final String LIST = "interrupts.txt";

    /** The printed source, in the board's folder. */
    static final String SOURCE = "interrupts.c";

    private static final String NONE = "-";
    private static final Pattern HANDLER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,99}");

    /** Most interrupts of a core: Armv7-M Architecture Reference Manual, B3.4. */
    private static final int MOST = 496;

    private static final String CORTEX_M_HEAD = """
            void kiln_unexpected(void);
            void kiln_interrupt(void);

            __attribute__((naked, used)) void kiln_interrupt(void) {
              __asm__ volatile("ldr r0, =kiln_unexpected\\n\\tbx r0\\n\\t.ltorg");
            }

            """;

    private static final String RISC_V_HEAD = """
            #include "kiln_plic.h"

            void kiln_trap(void);
            void kiln_interrupt(void);
            void kiln_interrupt_taken(void);
            void kiln_no_handler(void);

            /* Software and timer interrupts of the hart, by the names of SiFive's freedom-metal. */
            void metal_riscv_cpu_intc_msip_handler(void) __attribute__((weak, alias("kiln_no_handler")));
            void metal_riscv_cpu_intc_mtip_handler(void) __attribute__((weak, alias("kiln_no_handler")));

            /* Reported like an exception. */
            __attribute__((used)) void kiln_no_handler(void) {
              kiln_trap();
            }

            /* Interrupts have the sign bit of mcause. Exceptions go on before the stack is touched, because it may be what is broken. */
            __attribute__((naked, aligned(4), used)) void kiln_interrupt(void) {
              __asm__ volatile(
                  "csrw mscratch, t0\\n\\t"
                  "csrr t0, mcause\\n\\t"
                  "bltz t0, 1f\\n\\t"
                  "csrr t0, mscratch\\n\\t"
                  "j kiln_trap\\n"
                  "1:\\tcsrr t0, mscratch\\n\\t"
                  "j kiln_interrupt_taken\\n\\t");
            }

            """;

    private static final String RISC_V_TAIL = """

            /* Handlers are plain functions: what they may change is saved here. */
            __attribute__((interrupt("machine"), used)) void kiln_interrupt_taken(void) {
              uint32_t cause;
              __asm__ volatile("csrr %0, mcause" : "=r"(cause));
              cause &= 0x7fffffffu;
              if (cause == 3u) {
                metal_riscv_cpu_intc_msip_handler();
              } else if (cause == 7u) {
                metal_riscv_cpu_intc_mtip_handler();
              } else if (cause == 11u) {
                uint32_t source = KILN_PLIC_CLAIM;
                if (source >= sizeof kiln_interrupts / sizeof kiln_interrupts[0]) {
                  kiln_no_handler();
                } else if (kiln_interrupts[source] != 0) {
                  kiln_interrupts[source]();
                }
                KILN_PLIC_CLAIM = source;
              } else {
                kiln_no_handler();
              }
            }
            """;

    private InterruptTable() {}

    /**
     * The source for a board; empty if it has no list.
     *
     * @throws KilnException naming the line that is no handler
     */
    static Optional<Bytes> source(Board board) {
        return Optional.ofNullable(board.files().get(LIST))
                .map(list -> Bytes.ofText(print(board, handlers(board, list))));
    }

    private static List<String> handlers(Board board, Bytes list) {
        List<String> handlers = new ArrayList<>();
        int line = 0;
        for (String each : list.text().lines().toList()) {
            line++;
            String name = each.strip();
            if (name.isEmpty() || name.startsWith("#")) {
                continue;
            }
            boolean isHandler = name.equals(NONE)
                    || (HANDLER.matcher(name).matches() && !handlers.contains(name) && handlers.size() < MOST);
            if (!isHandler) {
                throw new KilnException(new Problem(
                        "this is no handler of an interrupt",
                        board.id() + "/" + LIST + ":" + line,
                        "at most " + MOST + " names of C functions, each once, or -",
                        "Correct the line"));
            }
            handlers.add(name);
        }
        return handlers;
    }

    private static String print(Board board, List<String> handlers) {
        boolean isRiscV = board.targetOption("march").orElse("").startsWith("rv");
        StringBuilder text = new StringBuilder("/* SPDX-License-Identifier: Apache-2.0\n *\n * Interrupts of ")
                .append(board.id())
                .append(
                        " by the vendor's names. A firmware defines the handlers that it needs; the others are reported as faults.\n")
                .append(" * This file is yours to use without conditions.\n */\n")
                .append(isRiscV ? RISC_V_HEAD : CORTEX_M_HEAD);
        handlers.stream()
                .filter(name -> !name.equals(NONE))
                .forEach(name -> text.append("void ")
                        .append(name)
                        .append("(void) __attribute__((weak, alias(\"")
                        .append(isRiscV ? "kiln_no_handler" : "kiln_interrupt")
                        .append("\")));\n"));
        text.append(isRiscV ? "\n" : "\n__attribute__((section(\".vectors.interrupts\"), used)) ")
                .append("static void (*const kiln_interrupts[])(void) = {\n");
        handlers.forEach(name ->
                text.append("    ").append(name.equals(NONE) ? "0" : name).append(",\n"));
        return text.append("};\n").append(isRiscV ? RISC_V_TAIL : "").toString();
    }
}
