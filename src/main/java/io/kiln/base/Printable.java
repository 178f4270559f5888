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

    /** Text as one line: line ends are shown as code points too. */
    public static String line(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (isSafe(c)) {
                shown.appendCodePoint(c);
            } else {
                shown.append(String.format(Locale.ROOT, "\\u%04x", c));
            }
        });
        return shown.toString();
    }

    /**
     * Text of several lines, such as a compiler's output: all but the first are indented, so that none looks like a
     * line of the log.
     */
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
