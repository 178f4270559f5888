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
 * A firmware defines the handlers that it needs.
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
        StringBuilder text = new StringBuilder("/* SPDX-License-Identifier: Apache-2.0\n *\n * Interrupts of ")
                .append(board.id())
                .append(
                        " by the vendor's names. A firmware defines the handlers that it needs; the others are reported as faults.\n")
                .append(" * This file is yours to use without conditions.\n */\n")
                .append("void kiln_unexpected(void);\nvoid kiln_interrupt(void);\n\n")
                .append("__attribute__((naked, used)) void kiln_interrupt(void) {\n")
                .append("  __asm__ volatile(\"ldr r0, =kiln_unexpected\\n\\tbx r0\\n\\t.ltorg\");\n}\n\n");
        handlers.stream()
                .filter(name -> !name.equals(NONE))
                .forEach(name -> text.append("void ")
                        .append(name)
                        .append("(void) __attribute__((weak, alias(\"kiln_interrupt\")));\n"));
        text.append(
                "\n__attribute__((section(\".vectors.interrupts\"), used)) static void (*const kiln_interrupts[])(void) = {\n");
        handlers.forEach(name ->
                text.append("    ").append(name.equals(NONE) ? "0" : name).append(",\n"));
        return text.append("};\n").toString();
    }
}
