// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ResourceTree;
import io.kiln.toolchain.board.Board;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Prints the vectors of a board's interrupts from its {@code interrupts.txt}: a line for each interrupt in the order of
 * their numbers, with the vendor's name of the handler, or {@code -} where there is none; lines with {@code #} are comments.
 * A firmware defines the handlers that it needs. On Cortex-M the vectors follow those of the core. On RISC-V the numbers are
 * those of the PLIC's sources, and one entry for all interrupts asks the PLIC which one it is (RISC-V PLIC specification 1.0.0).
 */
final class InterruptTable {
    /** Name of the board's list of interrupts. */
    static final String LIST = "interrupts.txt";

    /** The printed source, in the board's folder. */
    static final String SOURCE = "interrupts.c";

    private static final String NONE = "-";
    private static final Pattern HANDLER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,99}");

    /** Most interrupts of a core: Armv7-M Architecture Reference Manual, B3.4. */
    private static final int MOST = 496;

    /** Templates of the source, for each family of cores. */
    private static final String TEMPLATES = "interrupts";

    private InterruptTable() {}

    /**
     * The source for a board; empty if it has no list.
     *
     * @throws KilnException naming the line that is not a handler
     */
    static Optional<Bytes> source(Board board) {
        return Optional.ofNullable(board.files().get(LIST))
                .map(list -> Bytes.ofText(print(board, handlers(board, list))));
    }

    /** The handler of an interrupt, if the board's list names one. */
    static Optional<String> handler(Board board, int number) {
        return Optional.ofNullable(board.files().get(LIST))
                .map(list -> handlers(board, list))
                .filter(names -> number < names.size())
                .map(names -> names.get(number))
                .filter(name -> !name.equals(NONE));
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
                throw Failure.CODE.exception(
                        "this is not a handler of an interrupt",
                        board.id() + "/" + LIST + ":" + line,
                        "at most " + MOST + " names of C functions, each once, or -",
                        "Correct the line");
            }
            handlers.add(name);
        }
        return handlers;
    }

    private static String print(Board board, List<String> handlers) {
        boolean isRiscV = board.targetOption("march").orElse("").startsWith("rv");
        String unhandled = isRiscV ? "kiln_no_handler" : "kiln_interrupt";
        String declarations = handlers.stream()
                .filter(name -> !name.equals(NONE))
                .map(name -> "void " + name + "(void) __attribute__((weak, alias(\"" + unhandled + "\")));\n")
                .collect(Collectors.joining());
        String table = handlers.stream()
                .map(name -> "    " + (name.equals(NONE) ? "0" : name) + ",\n")
                .collect(Collectors.joining());
        return ResourceTree.read(TEMPLATES)
                .get(isRiscV ? "risc-v.c" : "cortex-m.c")
                .text()
                .replace("@BOARD@", board.id())
                .replace("@HANDLERS@\n", declarations + "\n")
                .replace("@TABLE@", table);
    }
}
