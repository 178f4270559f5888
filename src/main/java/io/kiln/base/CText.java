// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Makes text of models and users safe in C: as includes, string literals and comments, which nothing in the text can end. */
public final class CText {
    private static final Pattern INCLUDE = Pattern.compile("#[ \\t]*include[ \\t]*[<\"]([^>\"\\n]{1,250})[>\"]");

    private CText() {}

    /** The files that a C file includes, in its order and without their quotes or brackets. Conditions and comments are not looked at. */
    public static Stream<String> includes(String text) {
        return directives(text).stream().map(directive -> directive.group(1));
    }

    /** A C file that includes other files: each name is replaced by what the function gives for it, its quotes or brackets stay. */
    public static String withIncludes(String text, UnaryOperator<String> name) {
        StringBuilder out = new StringBuilder(text.length());
        int end = 0;
        for (MatchResult directive : directives(text)) {
            out.append(text, end, directive.start(1)).append(name.apply(directive.group(1)));
            end = directive.end(1);
        }
        return out.append(text, end, text.length()).toString();
    }

    private static List<MatchResult> directives(String text) {
        List<MatchResult> directives = new ArrayList<>();
        Matcher include = INCLUDE.matcher(text);
        // Models have megabytes of C, and few directives.
        for (int at = text.indexOf('#'); at >= 0; at = text.indexOf('#', at + 1)) {
            if (beginsItsLine(text, at) && include.region(at, text.length()).lookingAt()) {
                directives.add(include.toMatchResult());
            }
        }
        return directives;
    }

    private static boolean beginsItsLine(String text, int at) {
        int before = at - 1;
        while (before >= 0 && (text.charAt(before) == ' ' || text.charAt(before) == '\t')) {
            before--;
        }
        return before < 0 || text.charAt(before) == '\n' || text.charAt(before) == '\r';
    }

    /** A string constant with these bytes in UTF-8; all but plain characters are octal escapes, so that nothing can end the constant. */
    public static String literal(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            boolean isPlain = b >= ' ' && b < 0x7f && b != '"' && b != '\\' && b != '?';
            out.append(isPlain ? String.valueOf((char) b) : String.format(Locale.ROOT, "\\%03o", b & 0xFF));
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
