// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import java.util.List;
import java.util.Locale;

/** Collects the lines of one inline assembly statement in GNU syntax, for GCC and Clang alike. */
final class AsmText {
    private final StringBuilder lines = new StringBuilder();
    private String indent = "";

    /** Appends an instruction, label or directive. */
    void line(String format, Object... arguments) {
        lines.append("      \"")
                .append(indent)
                .append(String.format(Locale.ROOT, format, arguments))
                .append("\\n\"\n");
    }

    /** Appends lines that the assembler repeats. */
    void repeat(int count, Runnable body) {
        if (count == 1) {
            body.run();
        } else if (count > 1) {
            line(".rept %d", count);
            indent = "  ";
            body.run();
            indent = "";
            line(".endr");
        }
    }

    /** The lines as C strings. */
    String lines() {
        return lines.toString();
    }

    /**
     * The C text: arguments in r0, r1 ..., all of which the assembly may change.
     *
     * @param values C expressions of the arguments; empty ones at the end are left out
     * @param types their types
     * @param clobbers registers changed beside those of the arguments
     */
    String statement(List<String> values, List<String> types, List<String> clobbers) {
        StringBuilder out = new StringBuilder();
        StringBuilder operands = new StringBuilder();
        int count = (int) values.stream().filter(v -> !v.isEmpty()).count();
        for (int i = 0; i < count; i++) {
            out.append("  register %s r%d __asm__(\"r%d\") = %s;\n".formatted(types.get(i), i, i, values.get(i)));
            operands.append(i == 0 ? "" : ", ").append("\"+r\"(r").append(i).append(')');
        }
        String clobbered = clobbers.stream()
                .filter(c -> !c.matches("r[0-6]") || Integer.parseInt(c.substring(1)) >= count)
                .map(c -> "\"" + c + "\", ")
                .reduce("", String::concat);
        return out.append("  __asm__ volatile(\n")
                .append(lines)
                .append("      : ")
                .append(operands)
                .append("\n      :\n      : ")
                .append(clobbered)
                .append("\"cc\", \"memory\");\n")
                .toString();
    }
}
