// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

/** C or assembler text without comments, and optionally without string and character constants. */
public final class SourceText {
    private static final char NONE = 0;

    private SourceText() {}

    /** The text with a blank in place of each comment. */
    public static String withoutComments(String source) {
        return scan(source, true);
    }

    /** The text with a blank in place of each comment, string and character constant. */
    static String code(String source) {
        return scan(source, false);
    }

    private static String scan(String source, boolean withStrings) {
        StringBuilder kept = new StringBuilder(source.length());
        int at = 0;
        while (at < source.length()) {
            char c = source.charAt(at);
            char next = at + 1 < source.length() ? source.charAt(at + 1) : NONE;
            int end = at + 1;
            if (c == '/' && next == '/') {
                end = endOfLine(source, at);
            } else if (c == '/' && next == '*') {
                int close = source.indexOf("*/", at + 2);
                end = close < 0 ? source.length() : close + 2;
            } else if (c == '"' || c == '\'') {
                end = endOfQuoted(source, at);
            }
            boolean isComment = c == '/' && end > at + 1;
            boolean isQuoted = !isComment && end > at + 1;
            kept.append(isComment || (isQuoted && !withStrings) ? " " : source.substring(at, end));
            at = end;
        }
        return kept.toString();
    }

    private static int endOfLine(String source, int from) {
        int end = source.indexOf('\n', from);
        return end < 0 ? source.length() : end;
    }

    /** The offset behind the closing quote; a quote not closed on its line, as in assembler comments, is an ordinary character. */
    private static int endOfQuoted(String source, int from) {
        char quote = source.charAt(from);
        for (int i = from + 1; i < source.length() && source.charAt(i) != '\n'; i++) {
            if (source.charAt(i) == quote) {
                return i + 1;
            }
            if (source.charAt(i) == '\\') {
                i++;
            }
        }
        return from + 1;
    }
}
