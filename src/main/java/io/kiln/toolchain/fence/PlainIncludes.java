// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks that a source includes files by plain {@code #include} lines only, before a compiler reads it that can see all
 * files of this computer. The files that the compiler read are checked afterwards; this check keeps it from reading
 * endless files, or files whose reading has effects.
 */
public final class PlainIncludes {
    private static final Pattern SPLICE = Pattern.compile("\\\\[ \\t\\f\\x0b\\r]*\\n");
    private static final Pattern CONTROL = Pattern.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]|\\r(?!\\n)");
    private static final Pattern RAW_STRING = Pattern.compile("\\b(?:u8|u|U|L)?R\"");
    /** Some compilers and versions of C replace these, others do not: a line that ends with one may go on with the next. */
    private static final Pattern TRIGRAPH = Pattern.compile("\\?\\?[=/'()!<>-]");

    /** Names of GCC's older tests for files. */
    private static final Pattern FILE_TEST = Pattern.compile("\\b__has_include(?:_next)?__\\b");

    private static final Pattern READING = Pattern.compile("\\b(?:include|include_next|import|embed|dependency)\\b");
    private static final Pattern DIRECTIVE_BEFORE = Pattern.compile("#|%:|\\*/");
    private static final Pattern PLAIN = Pattern.compile(
            "[ \\t]*#[ \\t]*include[ \\t]*(?:\"(?<quoted>[A-Za-z0-9_+./-]+)\"|<(?<angled>[A-Za-z0-9_+./-]+)>)[ \\t\\r]*"
                    + "(?://.*|/\\*(?:[^*]|\\*(?!/))*+\\*/[ \\t\\r]*)?");

    private PlainIncludes() {}

    /** What is refused in a source before preprocessing. */
    public static List<Refusal> refusals(String file, String text) {
        Refusals refusals = new Refusals();
        if (CONTROL.matcher(text).find()) {
            refusals.add(file, 1, "control characters in a source");
        }
        if (RAW_STRING.matcher(text).find()) {
            refusals.add(file, 1, "a raw string");
        }
        if (TRIGRAPH.matcher(text).find()) {
            refusals.add(file, 1, "a trigraph, which compilers read differently");
        }
        // A spliced line counts as one: a marker keeps line numbers correct.
        String[] lines = SPLICE.matcher(text).replaceAll("\u0001").split("\n", -1);
        int number = 1;
        for (String marked : lines) {
            String line = marked.replace("\u0001", "");
            if (FILE_TEST.matcher(line).find()) {
                refusals.add(file, number, "a test for a file");
            }
            if (!isPlain(line)) {
                refusals.add(file, number, "a line that reads a file, but not by a plain #include");
            }
            number += 1 + (int) marked.chars().filter(c -> c == 1).count();
        }
        return refusals.list();
    }

    private static boolean isPlain(String line) {
        Matcher reading = READING.matcher(line);
        if (!reading.find()
                || !DIRECTIVE_BEFORE.matcher(line.substring(0, reading.start())).find()) {
            return true;
        }
        Matcher plain = PLAIN.matcher(line);
        if (!plain.matches()) {
            return false;
        }
        String name = plain.group("quoted") == null ? plain.group("angled") : plain.group("quoted");
        return !name.startsWith("/") && !List.of(name.split("/", -1)).contains("..");
    }
}
