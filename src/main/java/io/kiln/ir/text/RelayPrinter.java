// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.artifact.NamedTensor;
import io.kiln.ir.Function;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Prints a function and the functions that it calls as Relay text 0.0.5: one line for each operator call, {@code %0},
 * {@code %1} … in execution order.
 *
 * <p>TVM's parser accepts the text, provided that operators named {@code tfl.*} are registered ({@code kiln_relay.py}): an operator has TVM's
 * name if TVM's operator computes the same ({@link io.kiln.ir.op.Spelling}). Scalars are inline, other constants are {@code
 * meta[relay.Constant][n]} in order of appearance. Information without a place in Relay is in function attributes
 * (names and quantization of inputs and outputs) and comments (types, origins, constants' names, fused groups). Floats
 * are printed in the shortest form that parses to the same value. Called functions follow {@code @main}, each once for
 * every caller, named after themselves; those never called are omitted.
 */
public final class RelayPrinter {
    private static final String MAIN = "@main";
    private static final String VERSION = "#[version = \"0.0.5\"]\n";

    private static final String FOREIGN = """
        /* Operators named tfl.* compute as TensorFlow Lite's kernels do and TVM's do not. TVM reads the text after `import kiln_relay`,
           a file that lies beside it in an archive: it registers operators of these names, and the attributes of scatter_nd. */
        """;

    private final TextConstants constants;
    private final RelayNames globals = new RelayNames();
    private final StringBuilder out = new StringBuilder();

    private RelayPrinter(boolean asParameters) {
        this.constants = new TextConstants(asParameters);
    }

    /** The text without version line and constants' data, for people. */
    public static String print(Function function) {
        RelayPrinter printer = new RelayPrinter(false);
        printer.printModule(function);
        if (!printer.constants.metadata().isEmpty()) {
            printer.out
                    .append("\n/* The data of the ")
                    .append(printer.constants.metadata().size())
                    .append(" constants meta[relay.Constant] is left out. */\n");
        }
        return printer.out.toString();
    }

    /** The complete text: version line, functions, and a metadata section with the constants' data. */
    public static String astext(Function function) {
        return new RelayPrinter(false).whole(function);
    }

    /**
     * Text and its parameters.
     *
     * @param text complete except for the data of {@code @main}'s constants, which are parameters
     * @param parameters their data, by name
     */
    public record Module(String text, List<NamedTensor> parameters) {
        public Module {
            parameters = List.copyOf(parameters);
        }
    }

    /** The text for an archive: its constants are in a parameters file, as for TVM's frontends. */
    public static Module withParameters(Function function) {
        RelayPrinter printer = new RelayPrinter(true);
        String text = printer.whole(function);
        return new Module(text, printer.constants.parameters());
    }

    private String whole(Function function) {
        printModule(function);
        if (!constants.metadata().isEmpty()) {
            out.append("\n#[metadata]\n").append(MetadataSection.of(constants.metadata()));
        }
        return VERSION + (constants.hasForeign() ? FOREIGN : "") + out;
    }

    /** A function still to be printed. */
    private record Waiting(String name, Function function) {}

    private void printModule(Function main) {
        Deque<Waiting> waiting = new ArrayDeque<>();
        waiting.add(new Waiting("@" + globals.of(MAIN.substring(1)), main));
        while (!waiting.isEmpty()) {
            Waiting next = waiting.remove();
            out.append(next.name().equals(MAIN) ? "" : "\n");
            FunctionText text =
                    new FunctionText(next.function(), constants, next.name().equals(MAIN), called -> {
                        String name = "@" + globals.of(called.name());
                        waiting.add(new Waiting(name, called));
                        return name;
                    });
            out.append(text.print(next.name()));
        }
    }
}
