// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks through sources and linker scripts of a profile that somebody else wrote for what reads files of this computer while the
 * image is built. Compilers and linkers run no programs for a source, but they can put any file that they may read into the image.
 */
final class ForeignCode {
    /** What a C compiler reads as one: a string, a character, or a comment; so that no quote hides in another. */
    private static final Pattern QUOTED_OR_COMMENT = Pattern.compile(
            "(\"(?:[^\"\\\\\\n]|\\\\.)*+\"|'(?:[^'\\\\\\n]|\\\\.)*+')|/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);

    private static final Pattern INCLUDE =
            Pattern.compile("^\\s*(?:#|%:)\\s*(?:include|include_next|import)\\b\\s*(.*)$", Pattern.MULTILINE);
    private static final Pattern INCLUDED =
            Pattern.compile("[\"<]([A-Za-z0-9_][A-Za-z0-9_./-]*\\.(?:h|c|inc|S))[\">]\\s*");
    private static final Pattern SCRIPT_INCLUDE = Pattern.compile("\\bINCLUDE\\b\\s*(\\S*)");
    private static final Pattern SCRIPT_COMMENT = Pattern.compile("(\"[^\"]*\")|/\\*.*?\\*/", Pattern.DOTALL);

    /** Compilers pass over some of these and go on reading, so that a directive behind them is not at the start of its line. */
    private static final Pattern INVISIBLE = Pattern.compile("[\\x00-\\x08\\x0b\\x0e-\\x1f\\x7f\\ufeff]");

    /**
     * Words that are assembler directives or preprocessor directives reading files, or that can build such a word out of parts.
     */
    private static final Pattern SOURCE_WORDS = Pattern.compile(
            "\\b(?:incbin|embed|macro|altmacro|irp|irpc)\\b|\\.\\s*include\\b|##|%:|\\?\\?", Pattern.CASE_INSENSITIVE);

    /** Commands of linker scripts that name files to link or to write, or say where to look for them. */
    private static final Pattern SCRIPT_WORDS = Pattern.compile(
            "\\b(?:INPUT|GROUP|STARTUP|SEARCH_DIR|OUTPUT|MAP|SYSLIB|HLL|TARGET|PLUGIN|FLOAT|NOFLOAT|LD_FEATURE)\\b");

    /** A path, which a division is not: that has a blank behind it. A file named in a section is opened like any input. */
    private static final Pattern SCRIPT_PATH = Pattern.compile("\\S*/[^\\s/*][^\\s]*|\\.\\.|\\\\");

    private ForeignCode() {}

    /**
     * What is refused in a file.
     *
     * @param name path in the profile; its extension says what it is
     * @param text content
     * @param files every file of the profile, which linker scripts may include
     */
    static List<String> refusals(String name, String text, Set<String> files) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.endsWith(".ld")) {
            return script(text, files);
        }
        return lower.matches(".*\\.(c|h|s|inc)") ? source(text) : List.of();
    }

    private static List<String> script(String text, Set<String> files) {
        List<String> refused = new ArrayList<>();
        String code = SCRIPT_COMMENT
                .matcher(text)
                .replaceAll(match -> match.group(1) == null ? " " : Matcher.quoteReplacement(match.group(1)));
        if (code.indexOf('#') >= 0 || INVISIBLE.matcher(text).find()) {
            refused.add("a linker script with # or invisible characters, which linkers read differently");
        }
        Matcher words = SCRIPT_WORDS.matcher(code);
        while (words.find()) {
            refused.add("the linker command " + words.group());
        }
        Matcher paths = SCRIPT_PATH.matcher(code.replace("/DISCARD/", " "));
        while (paths.find()) {
            refused.add("the path " + CompilerFlags.printable(paths.group()) + " in a linker script");
        }
        Matcher includes = SCRIPT_INCLUDE.matcher(code);
        while (includes.find()) {
            String file = includes.group(1).replace("\"", "");
            if (!files.contains(file) || !file.endsWith(".ld")) {
                refused.add("INCLUDE of a file that is not the profile's");
            }
        }
        return refused;
    }

    /** Continued lines and strings in a row are joined and escapes unfolded first, as a compiler does. */
    private static List<String> source(String text) {
        String joined = text.replaceAll("\\\\[ \\t\\f\\x0b]*\\r?\\n", "");
        List<String> refused = new ArrayList<>();
        if (INVISIBLE.matcher(text).find()) {
            refused.add("invisible characters in a source");
        }
        for (String variant : List.of(joined, withoutComments(joined))) {
            Matcher includes = INCLUDE.matcher(variant);
            while (includes.find()) {
                Matcher included =
                        INCLUDED.matcher(withoutComments(includes.group(1)).strip());
                if (!included.matches() || included.group(1).contains("..")) {
                    refused.add("#include of a file by an absolute or computed path, or of no C file");
                    break;
                }
            }
        }
        String flat = withoutComments(joined).replaceAll("\"\\s*\"", "");
        for (String variant : List.of(joined, flat, unescaped(flat))) {
            Matcher words = SOURCE_WORDS.matcher(variant);
            while (words.find()) {
                String what = "\"" + words.group() + "\"";
                if (!refused.contains(what)) {
                    refused.add(what);
                }
            }
        }
        return refused;
    }

    private static String withoutComments(String text) {
        return QUOTED_OR_COMMENT
                .matcher(text)
                .replaceAll(match -> match.group(1) == null ? " " : Matcher.quoteReplacement(match.group(1)));
    }

    private static String unescaped(String text) {
        return Pattern.compile("\\\\(?:x([0-9a-fA-F]{1,4})|([0-7]{1,3})|u([0-9a-fA-F]{4}))")
                .matcher(text)
                .replaceAll(match -> {
                    int value = match.group(1) != null
                            ? Integer.parseInt(match.group(1), 16)
                            : match.group(2) != null
                                    ? Integer.parseInt(match.group(2), 8)
                                    : Integer.parseInt(match.group(3), 16);
                    return value > ' ' && value < 0x7f ? Matcher.quoteReplacement(String.valueOf((char) value)) : " ";
                });
    }
}
