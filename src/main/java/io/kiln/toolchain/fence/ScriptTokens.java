// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.fence;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits a linker script into tokens. Linkers split words differently, depending on the place: text that they might
 * split differently becomes a token outside the grammar. Operators need no blanks around them, except for division,
 * because a word with a slash is a path.
 */
final class ScriptTokens {
    private static final Pattern TOKEN = Pattern.compile(
            "(?<blank>[ \\t\\r]+)|(?<newline>\\n)"
                    + "|(?<comment>/\\*.*?\\*/)|(?<open>/\\*)"
                    + "|(?<text>\"[^\"\\n]*\")"
                    + "|(?<discard>/DISCARD/)"
                    + "|(?<word>\\*?[A-Za-z0-9_.][A-Za-z0-9_.*?-]*|\\*\\.[A-Za-z0-9_.*?-]+)"
                    + "|(?<operator><<=|>>=|<<|>>|<=|>=|==|!=|&&|\\|\\||\\+=|-=|\\*=|/=|&=|\\|=|/(?=[ \\t\\n])|[-+*%&|^~!?:<>=,;(){}])"
                    + "|(?<other>.)",
            Pattern.DOTALL);

    private static final String END = "the end";

    private final String text;
    private final List<String> tokens = new ArrayList<>();
    private final List<Integer> lines = new ArrayList<>();
    private int at;

    ScriptTokens(String text) {
        this.text = text;
    }

    /** Thrown at something outside the grammar. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final int line;

        Refused(int line, String what) {
            super(what, null, false, false);
            this.line = line;
        }

        int line() {
            return line;
        }

        String what() {
            return Refusals.shown(getMessage());
        }
    }

    /** Finds all tokens. */
    void split() {
        Matcher matcher = TOKEN.matcher(text);
        int line = 1;
        while (matcher.lookingAt()) {
            String token = matcher.group();
            checkCharacters(token, line);
            if (matcher.group("open") != null) {
                // The search for the comment's end took all of the text: the search for the next one's end would, too.
                throw new Refused(line, "a comment that does not end");
            }
            boolean isToken = matcher.group("blank") == null
                    && matcher.group("newline") == null
                    && matcher.group("comment") == null;
            if (isToken) {
                tokens.add(token);
                lines.add(line);
            }
            line += (int) token.chars().filter(c -> c == '\n').count();
            matcher.region(matcher.end(), text.length());
        }
    }

    /** Checks comments and strings too: linkers disagree on where they end if a byte is not plain. */
    private static void checkCharacters(String token, int line) {
        for (int i = 0; i < token.length(); i++) {
            char c = token.charAt(i);
            boolean isPlain = (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
            if (!isPlain) {
                throw new Refused(line, String.format(Locale.ROOT, "the character 0x%02x in a linker script", (int) c));
            }
        }
        if (token.startsWith("\"") && token.indexOf('\\') >= 0) {
            throw new Refused(line, "a backslash in a string");
        }
    }

    boolean isAtEnd() {
        return at == tokens.size();
    }

    /** The next token. */
    String peek() {
        return isAtEnd() ? END : tokens.get(at);
    }

    /** The token after the next one. */
    String peekBehind() {
        return at + 1 < tokens.size() ? tokens.get(at + 1) : END;
    }

    /** Line of the next token. */
    int line() {
        return lines.isEmpty() ? 1 : lines.get(Math.min(at, lines.size() - 1));
    }

    /** Whether the next token continues an expression across the end of a line. */
    boolean isWithin() {
        return at > 0 && List.of("+", "-", "*", "/", "(", "<<", ">>", "=").contains(tokens.get(at - 1));
    }

    void skip() {
        if (isAtEnd()) {
            throw refused("an unexpected end");
        }
        at++;
    }

    /** Skips the rest of the line. */
    void skipLine() {
        int line = line();
        while (!isAtEnd() && line() == line) {
            at++;
        }
    }

    boolean take(String token) {
        if (peek().equals(token)) {
            at++;
            return true;
        }
        if (isAtEnd() && token.equals("}")) {
            throw refused("a brace that is not closed");
        }
        return false;
    }

    void expect(String token) {
        if (!take(token)) {
            throw refused(peek() + " instead of " + token);
        }
    }

    void next(Pattern pattern, String expected) {
        if (!pattern.matcher(peek()).matches()) {
            throw refused(peek() + " instead of " + expected);
        }
        skip();
    }

    Refused refused(String what) {
        return new Refused(line(), what);
    }
}
