// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Arrays;
import java.util.Locale;

/**
 * Makes text of any origin safe for a terminal and a log: characters that move the cursor, change colours, reorder or
 * hide others, or start a line are shown as their code point, such as {@code \}{@code u001b}.
 */
public final class Printable {
    private static final String NEXT_LINE = "\n    ";

    /** Longer words, such as a name of 20,000 letters, are shown without their middle; paths and digests are shorter. */
    private static final int MOST_OF_WORD = 500;

    private static final int BEGIN_OF_WORD = 200;
    private static final int END_OF_WORD = 100;

    private static final int MOST_OF_LINE = 4000;

    /**
     * Invisible letters and marks, first and last of each range: Unicode's Default_Ignorable_Code_Point
     * (DerivedCoreProperties.txt) without those recognised by their category.
     */
    private static final int[][] INVISIBLE = {
        {0x034F, 0x034F},
        {0x115F, 0x1160},
        {0x17B4, 0x17B5},
        {0x180B, 0x180F},
        {0x3164, 0x3164},
        {0xFE00, 0xFE0F},
        {0xFFA0, 0xFFA0},
        {0xE0100, 0xE01EF}
    };

    private Printable() {}

    /** Text as one line of bounded length: line ends are shown as code points too, and the middle of long words is left out. */
    public static String line(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (isSafe(c)) {
                shown.appendCodePoint(c);
            } else {
                shown.append(String.format(Locale.ROOT, "\\u%04x", c));
            }
        });
        return bounded(shown.toString());
    }

    /** The first lines of a text, and how many are left out. */
    public static String first(int lines, String text) {
        int end = -1;
        for (int i = 0; i < lines; i++) {
            end = text.indexOf('\n', end + 1);
            if (end < 0) {
                return text;
            }
        }
        long more = text.substring(end + 1).lines().count();
        return text.substring(0, end) + (more == 0 ? "" : "\n\u2026 " + more + " more lines");
    }

    private static String bounded(String text) {
        if (text.length() <= MOST_OF_WORD) {
            return text;
        }
        StringBuilder kept = new StringBuilder();
        int at = 0;
        while (at < text.length() && kept.length() <= MOST_OF_LINE) {
            int end = at;
            while (end < text.length() && text.charAt(end) != ' ') {
                end++;
            }
            kept.append(at == 0 ? "" : " ").append(word(text.substring(at, end)));
            at = end + 1;
        }
        return at < text.length() ? kept + "\u2026 " + (text.length() - at) + " more characters" : kept.toString();
    }

    private static String word(String word) {
        int left = word.length() - BEGIN_OF_WORD - END_OF_WORD;
        return word.length() <= MOST_OF_WORD
                ? word
                : word.substring(0, BEGIN_OF_WORD) + "\u2026 " + left + " characters \u2026"
                        + word.substring(word.length() - END_OF_WORD);
    }

    /** Text of several lines, such as a compiler's output: all but the first are indented, so that none looks like a line of the log. */
    public static String lines(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        for (String each : text.replace("\r\n", "\n").split("\n", -1)) {
            shown.append(shown.isEmpty() ? "" : each.isEmpty() ? "\n" : NEXT_LINE)
                    .append(line(each));
        }
        return shown.toString();
    }

    /**
     * Whether a character has no effect beyond its glyph. Most that reorder text or are invisible are Unicode's format
     * characters; unassigned code points count as unsafe.
     */
    public static boolean isSafe(int codePoint) {
        if (codePoint >= ' ' && codePoint <= '~') {
            return true;
        }
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL -> codePoint == '\t';
            case Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> Arrays.stream(INVISIBLE).noneMatch(range -> range[0] <= codePoint && codePoint <= range[1]);
        };
    }
}
