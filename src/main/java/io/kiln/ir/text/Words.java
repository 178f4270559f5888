// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.Failure;
import java.util.Locale;
import java.util.regex.Pattern;

/** The words of a text with a lookahead of one. */
final class Words {
    private final String file;
    private final RelayLexer lexer;
    private Token next;

    /** Reads the first word, which may already be wrong. */
    Words(String file, String text) {
        this.file = file;
        this.lexer = new RelayLexer(file, text);
        this.next = new Token(Token.Kind.SYMBOL, "", new Place(1, 1), "");
    }

    Token peek() {
        return next;
    }

    /** The current word; advances to the next. */
    Token take() {
        Token taken = next;
        // If the lexer throws, the word taken must not be read again.
        next = new Token(Token.Kind.SYMBOL, "", taken.place(), "");
        next = lexer.next();
        return taken;
    }

    boolean takeIf(String symbol) {
        boolean matches = next.is(symbol);
        if (matches) {
            take();
        }
        return matches;
    }

    Token expect(String symbol) {
        if (!next.is(symbol)) {
            throw unexpected("`" + symbol + "`");
        }
        return take();
    }

    Token expect(Token.Kind kind, String what) {
        if (next.kind() != kind) {
            throw unexpected(what);
        }
        return take();
    }

    SyntaxException unexpected(String expected) {
        return failure(next.place(), next.shown() + " is not expected here", expected, "");
    }

    SyntaxException failure(Place place, String what, String expected, String advice) {
        return new SyntaxException(Failure.MODEL.problem(what, place.in(file), expected, advice));
    }

    String file() {
        return file;
    }

    /** Index in the text after the word returned by {@link #peek}. */
    int position() {
        return lexer.position();
    }

    /** The line at {@link #position}. */
    int line() {
        return lexer.line();
    }

    /** Splits Relay text into words, one at a time. Every call of {@link #next} advances, even if it throws. */
    private static final class RelayLexer {
        /** Characters within a name if a letter or digit follows. */
        private static final String INNER = ".:;-+/";

        private static final Pattern TYPE =
                Pattern.compile("(?:Tensor\\s*\\[|(?:u?int|float|bfloat)[0-9]+\\b|bool\\b|fn\\b).*", Pattern.DOTALL);

        /** Largest length of a type's name. */
        private static final int TYPE_LENGTH = 16;

        private static final int MAX_WORD = 1024;
        private static final int MAX_COMMENT = 1 << 14;
        private static final String SYMBOLS = "(){}[]=:;,#-+*/<>?.&|!";

        private final String file;
        private final String text;
        private int at;
        private int line = 1;
        private int lineStart;
        private String comment = "";

        RelayLexer(String file, String text) {
            this.file = file;
            this.text = text;
        }

        /** Index of the first unread character. */
        int position() {
            return at;
        }

        int line() {
            return line;
        }

        Token next() {
            comment = "";
            skipBlank();
            Place place = place();
            if (at == text.length()) {
                return new Token(Token.Kind.END, "", place, comment);
            }
            char c = text.charAt(at);
            if (c == '"') {
                return string(place);
            }
            if (isDigit(c) || (c == '-' && isDigit(charAt(at + 1))) || isNotFinite()) {
                return number(place);
            }
            if (isLetter(c)) {
                return word(Token.Kind.NAME, at + 1, place);
            }
            if (c == '%' && isPart(text, at + 1)) {
                return token(Token.Kind.LOCAL, end(text, at + 1), place);
            }
            if (c == '@' && isWord(at + 1)) {
                return word(Token.Kind.GLOBAL, at + 1, place);
            }
            if (text.startsWith("->", at)) {
                at += 2;
                return new Token(Token.Kind.SYMBOL, "->", place, comment);
            }
            at++;
            if (SYMBOLS.indexOf(c) < 0) {
                throw failure(place, "the character " + shown(c) + " has no meaning here", "Relay text");
            }
            return new Token(Token.Kind.SYMBOL, String.valueOf(c), place, comment);
        }

        private Token string(Place place) {
            StringBuilder value = new StringBuilder();
            int end = Literals.unquote(text, at, value);
            if (end < 0) {
                int lineEnd = text.indexOf('\n', at);
                at = lineEnd < 0 ? text.length() : lineEnd;
                throw failure(place, "the string does not end on its line", "a closing quote");
            }
            at = end;
            return new Token(Token.Kind.STRING, value.toString(), place, comment);
        }

        private Token word(Token.Kind kind, int from, Place place) {
            int end = from;
            while (end < text.length() && (isWord(end) || (text.charAt(end) == '.' && isWord(end + 1)))) {
                end++;
            }
            return token(kind, end, place);
        }

        /** Whether {@code inff}, {@code -inff64}, {@code nanf} or the like begins here. */
        private boolean isNotFinite() {
            int from = charAt(at) == '-' ? at + 1 : at;
            return NumberLiteral.NOT_FINITE.stream().anyMatch(word -> text.startsWith(word, from))
                    && !isLetter(charAt(from + NumberLiteral.NOT_FINITE.get(0).length()));
        }

        /** Digits, point, exponent and suffix; the parser of the number checks them. */
        private Token number(Place place) {
            int end = at + 1;
            while (end < text.length()
                    && (isWord(end)
                            || text.charAt(end) == '.'
                            || ((text.charAt(end) == '-' || text.charAt(end) == '+') && isExponent(end - 1)))) {
                end++;
            }
            return token(Token.Kind.NUMBER, end, place);
        }

        private Token token(Token.Kind kind, int end, Place place) {
            String word = text.substring(at, Math.min(end, at + MAX_WORD + 1));
            at = end;
            if (word.length() > MAX_WORD) {
                throw failure(
                        place,
                        "a word of more than " + MAX_WORD + " characters begins here",
                        "at most " + MAX_WORD + " characters");
            }
            return new Token(kind, word, place, comment);
        }

        private void skipBlank() {
            while (at < text.length()) {
                char c = text.charAt(at);
                if (c == '\n') {
                    newLine(at);
                    at++;
                } else if (c == ' ' || c == '\t' || c == '\r') {
                    at++;
                } else if (text.startsWith("//", at)) {
                    int end = text.indexOf('\n', at);
                    at = end < 0 ? text.length() : end;
                } else if (text.startsWith("/*", at)) {
                    skipComment();
                } else {
                    return;
                }
            }
        }

        /** Block comments nest. */
        private void skipComment() {
            Place place = place();
            int start = at + 2;
            int depth = 0;
            while (at < text.length()) {
                if (text.startsWith("/*", at)) {
                    depth++;
                    at += 2;
                } else if (text.startsWith("*/", at)) {
                    at += 2;
                    if (--depth == 0) {
                        comment = at - start <= MAX_COMMENT
                                ? text.substring(start, at - 2).strip()
                                : "";
                        return;
                    }
                } else {
                    if (text.charAt(at) == '\n') {
                        newLine(at);
                    }
                    at++;
                }
            }
            throw failure(place, "the comment does not end", "*/ for every /*");
        }

        private void newLine(int index) {
            line++;
            lineStart = index + 1;
        }

        private Place place() {
            return new Place(line, at - lineStart + 1);
        }

        private boolean isWord(int index) {
            char c = charAt(index);
            return isLetter(c) || isDigit(c);
        }

        private boolean isExponent(int index) {
            return (charAt(index) == 'e' || charAt(index) == 'E') && isDigit(charAt(index - 1));
        }

        private char charAt(int index) {
            return index >= 0 && index < text.length() ? text.charAt(index) : '\0';
        }

        private static boolean isLetter(char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        }

        private static boolean isDigit(char c) {
            return c >= '0' && c <= '9';
        }

        private static String shown(char c) {
            return c > ' ' && c < 0x7F ? "`" + c + "`" : String.format(Locale.ROOT, "U+%04X", (int) c);
        }

        private SyntaxException failure(Place place, String what, String expected) {
            return new SyntaxException(Failure.MODEL.problem(what, place.in(file), expected, ""));
        }

        /**
         * Index after the name that begins at an index, behind {@code %}. TVM prints a variable's name as in the model, such as {@code
         * serving_default_x:0} or {@code a/b;c-1}; the following characters decide whether one belongs to the name.
         */
        private static int end(String text, int from) {
            int end = from;
            while (isPart(text, end)) {
                end++;
            }
            boolean isTemporary = text.substring(from, end).chars().allMatch(Character::isDigit);
            while (!isTemporary && end < text.length() && continues(text, end)) {
                end++;
            }
            return end;
        }

        /** A letter, digit or underscore, of any alphabet. */
        private static boolean isPart(String text, int index) {
            return index < text.length()
                    && (text.charAt(index) == '_' || Character.isLetterOrDigit(text.charAt(index)));
        }

        private static boolean continues(String text, int index) {
            char c = text.charAt(index);
            return isPart(text, index)
                    || (INNER.indexOf(c) >= 0 && isPart(text, index + 1) && !(c == ':' && isType(text, index + 1)));
        }

        /** Whether a type follows, as in {@code %x:int8}. */
        private static boolean isType(String text, int index) {
            return TYPE.matcher(text.substring(index, Math.min(text.length(), index + TYPE_LENGTH)))
                    .matches();
        }
    }
}
