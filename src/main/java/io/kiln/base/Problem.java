// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Objects;

/**
 * One error: its family, and the four parts of every message of Kiln.
 *
 * @param family its family, whose id the build prints
 * @param what what happened
 * @param where the place: file, operator index and tensor, or line of a descriptor; empty if there is none
 * @param expected what was expected instead; empty if obvious
 * @param next what to do next; empty if there is no advice
 */
public record Problem(Failure family, String what, String where, String expected, String next) {

    /** Most lines of a tool's output in a message, which shows the beginning. */
    private static final int MOST_LINES = 200;

    public Problem {
        Objects.requireNonNull(family, "a problem belongs to a family");
    }

    /** The same problem at another place. */
    public Problem at(String place) {
        return new Problem(family, what, place, expected, next);
    }

    /**
     * The parts as one paragraph for the user. Each part ends with exactly one punctuation mark, whatever the part
     * itself ends with, because parts may quote other programs. Foreign text in it is made {@link Printable}.
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        String place = Printable.line(bare(where));
        if (!place.isEmpty()) {
            text.append(place).append(": ");
        }
        String statement = bare(Printable.first(MOST_LINES, what));
        text.append(statement);
        String wanted = bare(Printable.first(MOST_LINES, expected));
        if (!wanted.isEmpty()) {
            text.append(separator(statement)).append(wanted);
        }
        text.append(stop(wanted.isEmpty() ? statement : wanted));
        String advice = bare(Printable.first(MOST_LINES, next));
        if (!advice.isEmpty()) {
            text.append(spansLines(text) ? "\n" : " ").append(advice).append(stop(advice));
        }
        return Printable.lines(text.toString());
    }

    /** A part trimmed, without a final full stop, colon or comma. */
    private static String bare(String part) {
        String text = part.strip();
        int end = text.length();
        while (end > 0 && (isJoining(text.charAt(end - 1)) || endsSentence(text, end))) {
            end--;
        }
        return text.substring(0, end).stripTrailing();
    }

    private static boolean isJoining(char c) {
        return c == ':' || c == ';' || c == ',' || Character.isWhitespace(c);
    }

    /** Whether a full stop ends a sentence, unlike an ellipsis or a path such as {@code ..} or {@code ./.}. */
    private static boolean endsSentence(String text, int end) {
        if (text.charAt(end - 1) != '.' || end < 2 || text.endsWith("...")) {
            return false;
        }
        int word = end - 1;
        while (word > 0 && text.charAt(word - 1) == '.') {
            word--;
        }
        return word > 0 && "/\\ ".indexOf(text.charAt(word - 1)) < 0;
    }

    private static String separator(String statement) {
        return spansLines(statement) ? "\nExpected " : endsByItself(statement) ? " Expected " : "; expected ";
    }

    /** The full stop behind a part; output of tools, and tables, get none. */
    private static String stop(String part) {
        return spansLines(part) || endsByItself(part) ? "" : ".";
    }

    private static boolean endsByItself(String part) {
        return part.endsWith("...") || (!part.isEmpty() && "?!\u2026".indexOf(part.charAt(part.length() - 1)) >= 0);
    }

    private static boolean spansLines(CharSequence part) {
        return part.chars().anyMatch(c -> c == '\n');
    }
}
