// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.Problem;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
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
            for (String word : NumberLiteral.NOT_FINITE) {
                if (text.startsWith(word, from)) {
                    return !isLetter(charAt(from + word.length()));
                }
            }
            return false;
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

    /**
     * A number in Relay text: {@code 1} (int32, int64 beyond its range), {@code 1i8}, {@code 1f} (float32), {@code 1f64},
     * {@code inff}, {@code nanf}.
     *
     * @param value a Long, or a Double
     * @param dtype its type as a constant; empty for a float of other than 32 bits
     */
    record NumberLiteral(Number value, Optional<DType> dtype) {
        private static final Pattern FORM =
                Pattern.compile("(-?[0-9]++(\\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?)(?:([fi])(8|16|32|64)?)?");

        /** Prefixes of infinite numbers and NaN as TVM prints them; of equal length. */
        static final List<String> NOT_FINITE = List.of("inff", "nanf");

        /** What TVM prints for the largest float. */
        private static final String PRINTED_LARGEST = "3.40282e+38";

        private static final Pattern NOT_FINITE_FORM = Pattern.compile("(-?)(inf|nan)f(32|64)?");

        /** Parses it; empty if it is not a number, or beyond the range of its type. */
        static Optional<NumberLiteral> of(String text) {
            Matcher form = FORM.matcher(text);
            if (!form.matches()) {
                return notFinite(text);
            }
            String digits = form.group(1);
            boolean whole = digits.matches("-?[0-9]+");
            String suffix = form.group(3);
            String bits = form.group(4);
            if ("f".equals(suffix) || (suffix == null && !whole)) {
                return real(digits, bits);
            }
            return whole ? integer(digits, bits) : Optional.empty();
        }

        private static Optional<NumberLiteral> notFinite(String text) {
            Matcher form = NOT_FINITE_FORM.matcher(text);
            if (!form.matches()) {
                return Optional.empty();
            }
            double positive = form.group(2).equals("inf") ? Double.POSITIVE_INFINITY : Double.NaN;
            return Optional.of(new NumberLiteral(
                    form.group(1).isEmpty() ? positive : -positive,
                    "64".equals(form.group(3)) ? Optional.empty() : Optional.of(DType.FLOAT32)));
        }

        private static Optional<NumberLiteral> real(String digits, String bits) {
            boolean single = bits == null || bits.equals("32");
            if ("8".equals(bits)) {
                return Optional.empty();
            }
            double value = single ? single(digits) : Double.parseDouble(digits);
            return Double.isFinite(value)
                    ? Optional.of(new NumberLiteral(value, single ? Optional.of(DType.FLOAT32) : Optional.empty()))
                    : Optional.empty();
        }

        /** TVM prints six digits; of all numbers that it prints so, the largest float is the one that models have. */
        private static float single(String digits) {
            float value = Float.parseFloat(digits);
            return digits.endsWith(PRINTED_LARGEST) ? Math.copySign(Float.MAX_VALUE, value) : value;
        }

        private static Optional<NumberLiteral> integer(String digits, String bits) {
            try {
                long value = Long.parseLong(digits);
                DType dtype = bits == null
                        ? value == (int) value ? DType.INT32 : DType.INT64
                        : switch (bits) {
                            case "8" -> DType.INT8;
                            case "16" -> DType.INT16;
                            case "32" -> DType.INT32;
                            default -> DType.INT64;
                        };
                return value >= dtype.min() && value <= dtype.max()
                        ? Optional.of(new NumberLiteral(value, Optional.of(dtype)))
                        : Optional.empty();
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }
    }

    /**
     * A word of Relay text.
     *
     * @param text its text; for a string the unescaped content
     * @param place its start
     * @param comment the last block comment before it, without its marks; empty if there is none or it is too long
     */
    record Token(Kind kind, String text, Place place, String comment) {
        private static final int SHOWN = 40;

        enum Kind {
            /** An identifier, dots included: {@code nn.conv2d}. */
            NAME,
            /** {@code %x} or {@code %0}. */
            LOCAL,
            /** {@code @main}. */
            GLOBAL,
            NUMBER,
            STRING,
            SYMBOL,
            END
        }

        boolean is(String symbol) {
            return kind == Kind.SYMBOL && text.equals(symbol);
        }

        boolean isName(String name) {
            return kind == Kind.NAME && text.equals(name);
        }

        /** Its text in messages. */
        String shown() {
            String start = text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
            return switch (kind) {
                case END -> "the end of the text";
                case STRING -> Literals.quoted(start);
                default -> "`" + start + "`";
            };
        }
    }

    /** Ends the parsing of a statement; the parser catches it, reports the error and continues after the statement. */
    static final class SyntaxException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient Problem problem;

        SyntaxException(Problem problem) {
            super(problem.text(), null, false, false);
            this.problem = problem;
        }

        Problem problem() {
            return problem;
        }
    }
}
