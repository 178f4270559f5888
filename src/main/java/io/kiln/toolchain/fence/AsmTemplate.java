// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks the text of an inline assembly statement against a language of plain instructions. Each statement is a
 * mnemonic with operands, after any number of labels, or one of the few directives that Kiln's own kernels need: none
 * of them takes a string, or a name other than that of one number, so none can read a file. Quotes, comments, backslashes and definitions are refused,
 * because an assembler could compose a directive with them.
 */
final class AsmTemplate {
    private static final Pattern CHARACTERS = Pattern.compile("[A-Za-z0-9 \\t\\n_.,#\\[\\]{}!+\\-*()%:;=&^~<>]*");
    private static final Pattern LABEL =
            Pattern.compile("\\s*(?:[0-9]{1,3}|(?:\\.L)?[A-Za-z_][A-Za-z0-9_.]*(?:%=)?)\\s*:");
    private static final Pattern DIRECTIVE =
            Pattern.compile("\\.(?:ltorg|pool|endr|syntax\\s+unified|p2align\\s+[0-9]{1,2}"
                    + "|set\\s+\\.Lkiln_at,\\s*(?:\\.Lkiln_at\\s*\\+\\s*)?[0-9]{1,5}"
                    + "|(?:b?align)\\s+[0-9]{1,4}|option\\s+(?:push|pop|rvc|norvc)|rept\\s+([0-9]{1,5}))");
    private static final Pattern INSTRUCTION = Pattern.compile("[A-Za-z][A-Za-z0-9_.]*(?:\\s++(?![=:]).*)?");

    /** A word that begins with a dot, other than a local label, could be a directive after a name; parts of it may come from an operand. */
    private static final Pattern DOTTED_OPERAND = Pattern.compile("(?<![A-Za-z0-9_.])\\.(?!L)[A-Za-z_%{}]");

    /**
     * Colons and equals signs where instructions have them: {@code #:lower16:}, {@code =} of a constant, {@code %=}.
     * Elsewhere they would make the mnemonic a label or a symbol: operands can be empty ({@code %i0} of a register),
     * and clang drops braces for RISC-V.
     */
    private static final Pattern INNER_MARKS = Pattern.compile("#:[a-z0-9_]{1,20}:|,\\s*+=|%=");

    private static final Pattern DEFINING = Pattern.compile("[:=]");

    /** Limit of repetitions, all levels multiplied, because more would exhaust memory. */
    private static final long MOST_REPEATED = 1 << 16;

    private final Deque<Long> repeated = new ArrayDeque<>();

    private AsmTemplate() {}

    /**
     * What is refused in a template; empty if it conforms.
     *
     * @param literal the content of the string literals, joined, escapes as written
     */
    static Optional<String> refusal(String literal) {
        String text = literal.replace("\\n", "\n").replace("\\t", "\t");
        Matcher other = CHARACTERS.matcher(text);
        if (!other.matches()) {
            other.reset().lookingAt();
            return Optional.of("the character " + text.charAt(other.end()) + " in assembly");
        }
        return new AsmTemplate().statements(text);
    }

    private Optional<String> statements(String text) {
        for (String statement : text.split("[\\n;]", -1)) {
            Optional<String> refused = statement(statement);
            if (refused.isPresent()) {
                return refused;
            }
        }
        return repeated.isEmpty() ? Optional.empty() : Optional.of(".rept without .endr");
    }

    private Optional<String> statement(String text) {
        Matcher label = LABEL.matcher(text);
        int end = 0;
        while (label.lookingAt()) {
            end = label.end();
            label.region(end, text.length());
        }
        String rest = text.substring(end).strip();
        if (rest.isEmpty()) {
            return Optional.empty();
        }
        if (rest.startsWith(".")) {
            return directive(rest);
        }
        if (!INSTRUCTION.matcher(rest).matches() || isDefinition(rest)) {
            return Optional.of("assembly that is not a plain instruction: " + Refusals.shown(rest));
        }
        return Optional.empty();
    }

    private static boolean isDefinition(String text) {
        return DOTTED_OPERAND.matcher(text).find()
                || DEFINING.matcher(INNER_MARKS.matcher(text).replaceAll("")).find();
    }

    private Optional<String> directive(String text) {
        Matcher directive = DIRECTIVE.matcher(text);
        if (!directive.matches()) {
            return Optional.of("the assembler directive " + Refusals.shown(text));
        }
        if (directive.group(1) != null) {
            long times = (repeated.isEmpty() ? 1 : repeated.peek()) * Long.parseLong(directive.group(1));
            repeated.push(times);
            if (times > MOST_REPEATED) {
                return Optional.of("more than " + MOST_REPEATED + " repetitions");
            }
        } else if (text.equals(".endr") && repeated.poll() == null) {
            return Optional.of(".endr without .rept");
        }
        return Optional.empty();
    }
}
