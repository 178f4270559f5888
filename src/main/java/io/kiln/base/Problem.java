// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/**
 * One thing that is wrong, in the four parts that every message of Kiln has.
 *
 * @param what what happened
 * @param where the place: file, operator index and tensor, or line of a descriptor; empty if there is none
 * @param expected what was expected instead; empty if it goes without saying
 * @param next what to do next; empty if there is nothing to advise
 */
public record Problem(String what, String where, String expected, String next) {

    /** A problem with only a statement and a place. */
    public static Problem of(String what, String where) {
        return new Problem(what, where, "", "");
    }

    /**
     * The parts in one paragraph, as the user reads them. Each part ends with one punctuation mark, whatever the parts bring:
     * they may quote what other programs said. Text of foreign files in it is made {@link Printable}.
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        String place = Printable.line(bare(where));
        if (!place.isEmpty()) {
            text.append(place).append(": ");
        }
        String statement = bare(what);
        text.append(statement);
        String wanted = bare(expected);
        if (!wanted.isEmpty()) {
            text.append(separator(statement)).append(wanted);
        }
        text.append(stop(wanted.isEmpty() ? statement : wanted));
        String advice = bare(next);
        if (!advice.isEmpty()) {
            text.append(spansLines(text) ? "\n" : " ").append(advice).append(stop(advice));
        }
        return Printable.lines(text.toString());
    }

    /** A part without blank ends and without the full stop, colon or comma that would meet the next mark. */
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

    /** A full stop behind a word; the dots of an ellipsis and of a path, such as {@code ..} or {@code ./.}, stay. */
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

    /** What a tool printed, and a table, take no full stop. */
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
