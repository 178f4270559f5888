// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The grammar of target strings, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}: words separated by blanks, the
 * first of which is the kind. There are no quotes and no other characters, because targets are printed into C,
 * archives, reports and logs.
 */
public final class TargetText {
    /** Length limit of a target string. */
    public static final int MAX_LENGTH = 1000;

    /** The characters of words, for messages. */
    public static final String LETTERS = "letters and digits of ASCII and _ . , + = -";

    /** The kinds of targets whose code runs on a board's processor by itself; a board's target is of one of them. */
    public static final List<String> HOST_KINDS = List.of("c", "llvm");

    /** The {@link #HOST_KINDS} in words, for messages. */
    public static final String HOSTS = String.join(" or ", HOST_KINDS);

    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_.,+=-]+");
    private static final char BLANK = ' ';

    private TargetText() {}

    /**
     * A word of a target string.
     *
     * @param text at least one character
     * @param column its first column, from 1
     */
    public record Word(String text, int column) {}

    /** Whether this can be a word, or a part of one. */
    public static boolean isWord(String text) {
        return WORD.matcher(text).matches();
    }

    /** The kind of a target, its first word; empty if there is none. */
    public static String kind(String text) {
        int end = text.indexOf(BLANK);
        return end < 0 ? text : text.substring(0, end);
    }

    /** Index of the first character that is not allowed; empty if there is none. */
    public static OptionalInt wrongLetter(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (i >= MAX_LENGTH || (c != BLANK && !isWord(String.valueOf(c)))) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    /** The words of a target string that has only allowed characters. */
    public static List<Word> words(String text) {
        List<Word> words = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || text.charAt(i) == BLANK) {
                if (i > start) {
                    words.add(new Word(text.substring(start, i), start + 1));
                }
                start = i + 1;
            }
        }
        return words;
    }

    /**
     * The parts of a composite target without quotes, at least one; the last one is the host's. A comma separates parts, unless it is within a
     * value, as in {@code -keys=arm_cpu,cpu}, and no blank follows it, or within quotes.
     */
    public static List<String> parts(String text) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        StringBuilder word = new StringBuilder();
        char quote = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote != 0 ? c == quote : c == '\'' || c == '"') {
                quote = quote == 0 ? c : 0;
            } else if (c == ',' && quote == 0 && separates(text, i, word)) {
                parts.add(part.toString().strip());
                part.setLength(0);
                word.setLength(0);
            } else {
                part.append(c);
                word.append(c);
                if (c == ' ' && quote == 0) {
                    word.setLength(0);
                }
            }
        }
        parts.add(part.toString().strip());
        return parts;
    }

    private static boolean separates(String text, int comma, StringBuilder word) {
        boolean isInValue = word.indexOf("=") >= 0;
        boolean endsQuotes = comma > 0 && (text.charAt(comma - 1) == '\'' || text.charAt(comma - 1) == '"');
        return !isInValue || endsQuotes || comma + 1 == text.length() || text.charAt(comma + 1) == ' ';
    }
}
