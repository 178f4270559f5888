// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Prints a function and those that it calls as Relay text 0.0.5: one line for each operator call, {@code %0}, {@code %1} … in execution order.
 *
 * <p>Scalars stand inline, other constants as {@code meta[relay.Constant][n]} in order of appearance. What Relay has no place for are function
 * attributes (names and quantization of inputs and outputs) and comments (types, origins, constants' names, fused groups). Floats print in
 * the shortest form that reads back the same. Functions that are called follow {@code @main}, each once for every caller, named after
 * themselves; those that nothing calls are left out.
 */
public final class RelayPrinter {
    private static final String MAIN = "@main";

    private final List<Constant> constants = new ArrayList<>();
    private final RelayNames globals = new RelayNames();
    private final StringBuilder out = new StringBuilder();

    private RelayPrinter() {}

    /** The text of an archive's {@code src} folder: no version line, no constants' data. */
    public static String print(Function function) {
        RelayPrinter printer = new RelayPrinter();
        printer.printModule(function);
        if (!printer.constants.isEmpty()) {
            printer.out
                    .append("\n/* The data of the ")
                    .append(printer.constants.size())
                    .append(" constants meta[relay.Constant] is left out. */\n");
        }
        return printer.out.toString();
    }

    /** The whole of it: version line, functions, and a metadata section with the constants' data. */
    public static String astext(Function function) {
        RelayPrinter printer = new RelayPrinter();
        printer.out.append("#[version = \"0.0.5\"]\n");
        printer.printModule(function);
        if (!printer.constants.isEmpty()) {
            printer.out.append("\n#[metadata]\n").append(MetadataSection.of(printer.constants));
        }
        return printer.out.toString();
    }

    /** A function that waits for its turn. */
    private record Waiting(String name, Function function) {}

    private void printModule(Function main) {
        Deque<Waiting> waiting = new ArrayDeque<>();
        waiting.add(new Waiting("@" + globals.of(MAIN.substring(1)), main));
        while (!waiting.isEmpty()) {
            Waiting next = waiting.remove();
            out.append(next.name().equals(MAIN) ? "" : "\n");
            FunctionText text = new FunctionText(next.function(), constants, called -> {
                String name = "@" + globals.of(called.name());
                waiting.add(new Waiting(name, called));
                return name;
            });
            out.append(text.print(next.name()));
        }
    }
}
