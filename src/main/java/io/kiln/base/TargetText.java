// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * The grammar of target strings, such as {@code c -keys=arm_cpu,cpu -mcpu=cortex-m4}: words with blanks between them, the first of
 * them the kind. There are no quotes and no other letters, since targets are printed into C, archives, reports and logs.
 */
public final class TargetText {
    /** The longest target string. */
    public static final int MAX_LENGTH = 1000;

    /** What words consist of, for messages. */
    public static final String LETTERS = "letters and digits of ASCII and _ . , + = -";

    private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_.,+=-]+");
    private static final char BLANK = ' ';

    private TargetText() {}

    /**
     * A word of a target string.
     *
     * @param text one letter at least
     * @param column where it begins, from 1
     */
    public record Word(String text, int column) {}

    /** Whether this can be a word, or a part of one. */
    public static boolean isWord(String text) {
        return WORD.matcher(text).matches();
    }

    /** Index of the first letter that no target string has; empty if there is none. */
    public static OptionalInt wrongLetter(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (i >= MAX_LENGTH || (c != BLANK && !isWord(String.valueOf(c)))) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    /** The words of a target string without a wrong letter. */
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
}
