// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** C files as text. All comments with text from elsewhere are made here. */
public final class CText {
    private static final Pattern INCLUDE =
            Pattern.compile("^[ \\t]*#[ \\t]*include[ \\t]*[<\"]([^>\"\\n]{1,250})[>\"]", Pattern.MULTILINE);

    private CText() {}

    /** The files that a C file includes, in its order and without their quotes or brackets. Conditions and comments are not looked at. */
    public static Stream<String> includes(String text) {
        return INCLUDE.matcher(text).results().map(include -> include.group(1));
    }

    /** A string constant with these bytes in UTF-8; what is not a plain character is an octal number, so that it cannot end the constant. */
    public static String literal(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            boolean isPlain = b >= ' ' && b < 0x7f && b != '"' && b != '\\' && b != '?';
            out.append(isPlain ? String.valueOf((char) b) : String.format("\\%03o", b & 0xFF));
        }
        return out.append('"').toString();
    }

    /**
     * Text that neither ends its comment nor leaves its line, in a comment of either kind: ASCII only, no start or end
     * of a comment, no trigraph (one of them is a backslash), and no backslash at the end, even before blanks, because
     * it would join lines.
     */
    public static String comment(String text) {
        String safe = text.replaceAll("[^\\x20-\\x7e]", "?")
                .replaceAll("\\?(?=\\?)", "? ")
                .replace("*/", "* /")
                .replace("/*", "/ *");
        return safe.stripTrailing().endsWith("\\") ? safe + "." : safe;
    }
}
