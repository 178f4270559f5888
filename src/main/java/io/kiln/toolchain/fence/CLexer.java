// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits preprocessed C into tokens (C11, 6.4). Text that compilers might split differently is refused, so that they
 * and this class see the same tokens: characters other than printable ASCII, line splices, trigraphs, digraphs,
 * comments, raw strings and quotes adjacent to other tokens.
 */
final class CLexer {
    private static final Set<String> STRING_PREFIXES = Set.of("L", "u", "U", "u8");
    private static final String MARKS = "!%&()*+,-./:;<=>?[]^{|}~";
    private static final Set<String> AMBIGUOUS = Set.of("//", "/*", "%:", "<:", ":>", "<%", "%>");

    /** Kinds of tokens. */
    enum Kind {
        WORD,
        NUMBER,
        STRING,
        CHARACTER,
        MARK,
        END
    }

    private final byte[] text;
    private final DirectiveLines directives;
    private final Refusals refusals;
    private int at;
    private int start;
    private boolean atLineStart = true;
    private boolean prefixed;
    private Kind kind = Kind.END;

    CLexer(byte[] text, DirectiveLines directives, Refusals refusals) {
        this.text = text;
        this.directives = directives;
        this.refusals = refusals;
    }

    /** Advances to the next token. */
    Kind next() {
        while (at < text.length) {
            char c = at(at);
            if (c == '\n') {
                directives.nextLine();
                atLineStart = true;
                at++;
            } else if (c == ' ' || c == '\t') {
                at++;
            } else if (c == '#' && atLineStart) {
                directive();
            } else {
                atLineStart = false;
                start = at;
                prefixed = false;
                kind = token(c);
                if (kind != Kind.END) {
                    return kind;
                }
            }
        }
        kind = Kind.END;
        start = at;
        return kind;
    }

    /** The token's text. */
    String text() {
        return new String(text, start, at - start, StandardCharsets.ISO_8859_1);
    }

    /** Whether the token is this mark. */
    boolean is(char mark) {
        return kind == Kind.MARK && text[start] == mark;
    }

    /** Whether the token is a string with a prefix, such as {@code L"x"}. */
    boolean hasPrefix() {
        return prefixed;
    }

    /** A string without its quotes; one with a prefix is refused. */
    String content() {
        String literal = text();
        if (prefixed) {
            refuse("the string " + Refusals.shown(literal) + " with a prefix");
        }
        int from = literal.indexOf('"') + 1;
        return literal.substring(from, Math.max(from, literal.length() - 1));
    }

    void refuse(String what) {
        refusals.add(directives.file(), directives.line(), what);
    }

    private Kind token(char c) {
        if (isLetter(c)) {
            return word();
        }
        if (isDigit(c) || (c == '.' && isDigit(at(at + 1)))) {
            return number();
        }
        if (c == '"' || c == '\'') {
            return quoted(c);
        }
        at++;
        if (MARKS.indexOf(c) < 0) {
            refuse("the character " + name(c) + " outside of a string");
            return Kind.END;
        }
        String pair = "" + c + at(at);
        if (AMBIGUOUS.contains(pair)) {
            refuse("the characters " + pair + ", which start a comment or stand for others");
        }
        if (c == '?') {
            checkTrigraph(start);
        }
        return Kind.MARK;
    }

    private Kind word() {
        while (isLetter(at(at)) || isDigit(at(at))) {
            at++;
        }
        char c = at(at);
        if (c == '"' || c == '\'') {
            String prefix = text();
            if (!STRING_PREFIXES.contains(prefix)) {
                refuse("the word " + Refusals.shown(prefix) + " directly before a quote");
            }
            prefixed = true;
            return quoted(c);
        }
        return Kind.WORD;
    }

    /** A preprocessing number (C11, 6.4.8). */
    private Kind number() {
        while (true) {
            char c = at(at);
            char before = at(at - 1);
            boolean isSign = (c == '+' || c == '-') && at > start && "eEpP".indexOf(before) >= 0;
            if (!isLetter(c) && !isDigit(c) && c != '.' && !isSign) {
                break;
            }
            at++;
        }
        if (at(at) == '\'' || at(at) == '"') {
            refuse("a quote directly after a number");
        }
        return Kind.NUMBER;
    }

    private Kind quoted(char quote) {
        at++;
        while (at < text.length && at(at) != quote) {
            char c = at(at);
            if (c == '\n') {
                refuse("a string or character that does not end on its line");
                return quote == '"' ? Kind.STRING : Kind.CHARACTER;
            }
            if (c == '?') {
                checkTrigraph(at);
            }
            if (c == '\\') {
                at++;
                c = at(at);
                if (c == '?') {
                    checkTrigraph(at);
                }
            }
            if ((c < ' ' || c > '~') && c != '\t') {
                refuse("the character " + name(c) + " in a string");
            }
            if (c != '\n') {
                at++;
            }
        }
        at = Math.min(at + 1, text.length);
        return quote == '"' ? Kind.STRING : Kind.CHARACTER;
    }

    private void directive() {
        start = at;
        while (at < text.length && at(at) != '\n') {
            at++;
        }
        directives.read(text(), this::refuse);
    }

    private void checkTrigraph(int position) {
        if (at(position + 1) == '?' && "=/'()!<>-".indexOf(at(position + 2)) >= 0) {
            refuse("a trigraph");
        }
    }

    private char at(int position) {
        return position >= 0 && position < text.length ? (char) (text[position] & 0xff) : '\n';
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static String name(char c) {
        return c > ' ' && c <= '~' ? Character.toString(c) : String.format(Locale.ROOT, "0x%02x", (int) c);
    }

    /**
     * The lines that begin with # in preprocessed C: line markers, which name the source of the text, and pragmas of a
     * short list. Other pragmas can read files, rename symbols or pass arguments to the linker.
     */
    static final class DirectiveLines {
        private static final Pattern MARKER =
                Pattern.compile("# ([0-9]{1,9}) \"((?:[^\"\\\\]|\\\\\\\\)*+)\"((?: [1-4]){0,4})\\s*");
        private static final Pattern PSEUDO_FILE = Pattern.compile("<built-in>|<command[ -]line>");

        private static final List<Pattern> PRAGMAS = List.of(
                Pattern.compile("once"),
                Pattern.compile("pack\\s*\\(\\s*(?:(?:push|pop)\\s*,?\\s*)?[0-9]{0,2}\\s*\\)"),
                Pattern.compile(
                        "(?:GCC|clang) diagnostic (?:push|pop|(?:ignored|warning|error)\\s+\"-W[a-z0-9=+-]+\")"),
                Pattern.compile("(?:GCC )?(?:unroll|nounroll)\\s*(?:\\(?\\s*[0-9]{1,4}\\s*\\)?)?"),
                Pattern.compile("GCC ivdep"),
                Pattern.compile("clang loop(?: [a-z_]+\\s*\\(\\s*[a-z0-9_]+\\s*\\)){1,16}"),
                Pattern.compile("STDC (?:FP_CONTRACT|FENV_ACCESS|CX_LIMITED_RANGE) (?:ON|OFF|DEFAULT)"));
        private static final Pattern PRAGMA = Pattern.compile("#\\s*pragma\\s+(.*)");

        private final Predicate<String> isKnown;
        private String file = "<text>";
        private int line = 1;

        /**
         * Starts at the beginning of a text.
         *
         * @param isKnown whether a line marker may name a file
         */
        DirectiveLines(Predicate<String> isKnown) {
            this.isKnown = isKnown;
        }

        String file() {
            return file;
        }

        int line() {
            return line;
        }

        /** Goes on to the next line, at the end of one. */
        void nextLine() {
            line++;
        }

        /** Handles a line that begins with #. */
        void read(String text, Consumer<String> refuse) {
            Matcher marker = MARKER.matcher(text);
            if (marker.matches()) {
                mark(marker, refuse);
                return;
            }
            Matcher pragma = PRAGMA.matcher(text);
            if (!pragma.matches()) {
                refuse.accept("the directive " + Refusals.shown(text));
            } else if (PRAGMAS.stream()
                    .noneMatch(
                            allowed -> allowed.matcher(pragma.group(1).strip()).matches())) {
                refuse.accept("the pragma " + Refusals.shown(pragma.group(1)));
            }
        }

        private void mark(Matcher marker, Consumer<String> refuse) {
            String name = marker.group(2).replace("\\\\", "\\");
            if (!PSEUDO_FILE.matcher(name).matches()) {
                if (isKnown.test(name)) {
                    file = name;
                } else {
                    refuse.accept("a line marker for " + Refusals.shown(name) + ", which is not a file of the project");
                }
            }
            // The end of this line adds one.
            line = Integer.parseInt(marker.group(1)) - 1;
        }
    }
}
