// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Numbers and strings in the form of Relay text. */
final class Literals {
    private static final int DOUBLE_DIGITS = 17;
    private static final int HEX = 16;

    private Literals() {}

    /**
     * {@code 0.5f}: the fewest digits that parse to the same float. The largest one has those of a double:
     * TVM's parser reads a double, which must not be larger than it.
     */
    static String of(float value) {
        return shortest(value, Math.abs(value) == Float.MAX_VALUE ? Double::parseDouble : Float::parseFloat) + "f";
    }

    /** As a float if it is one, otherwise {@code 0.1f64}. */
    static String of(double value) {
        return (float) value == value ? of((float) value) : shortest(value, Double::parseDouble) + "f64";
    }

    /** The value of an operator's attribute. */
    static String ofAttribute(Object value) {
        if (value instanceof Double number) {
            return of(number.doubleValue());
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Literals::ofAttribute).collect(Collectors.joining(", ", "[", "]"));
        }
        if (Optional.empty().equals(value)) {
            return "None";
        }
        if (value instanceof Boolean truth) {
            return truth ? "True" : "False";
        }
        return value instanceof String text ? quoted(text) : String.valueOf(value);
    }

    /**
     * A scalar constant's literal; empty if Relay has none: for tensors, int8 and unsigned integers, and NaN, whose bits
     * a literal would lose.
     */
    static Optional<String> inline(Constant constant) {
        if (constant.type().shape().rank() > 0) {
            return Optional.empty();
        }
        DType dtype = constant.type().dtype();
        return switch (dtype) {
            case FLOAT32 ->
                Optional.of(constant.real(0)).filter(x -> !Float.isNaN(x)).map(Literals::of);
            case INT32 -> Optional.of(String.valueOf(constant.integer(0)));
            case INT16, INT64 -> Optional.of(constant.integer(0) + "i" + 8 * dtype.bytes());
            case BOOL -> Optional.of(constant.integer(0) == 0 ? "False" : "True");
            case INT8, UINT8, UINT32, UINT64 -> Optional.empty();
        };
    }

    /**
     * In double quotes, with backslashes and control characters escaped; quotes are escaped by number, because TVM's
     * parser ends at any quote.
     */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '\\') {
                quoted.append("\\\\");
            } else if (c == '\n') {
                quoted.append("\\n");
            } else if (c == '\t') {
                quoted.append("\\t");
            } else if (c < ' ' || c == '"' || c == 0x7F) {
                quoted.append(String.format(Locale.ROOT, "\\x%02x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }

    /**
     * Parses a string written by {@link #quoted}, also with an escaped slash or star.
     *
     * @param at index of the opening quote
     * @param value receives the content
     * @return index after the closing quote; -1 if the line has none, or for an invalid escape
     */
    static int unquote(String text, int at, StringBuilder value) {
        int i = at + 1;
        while (i < text.length() && text.charAt(i) != '\n') {
            char c = text.charAt(i);
            if (c == '"') {
                return i + 1;
            }
            int length = c == '\\' ? escape(text, i, value) : 1;
            if (length == 0) {
                return -1;
            }
            if (c != '\\') {
                value.append(c);
            }
            i += length;
        }
        return -1;
    }

    /** Parses the escape at a backslash; returns its length, or 0 if it is invalid. */
    private static int escape(String text, int at, StringBuilder value) {
        char escape = at + 1 < text.length() ? text.charAt(at + 1) : '\n';
        switch (escape) {
            case 'n' -> value.append('\n');
            case 't' -> value.append('\t');
            case '"', '\\', '/', '*', '\'' -> value.append(escape);
            case 'x' -> {
                int high = at + 3 < text.length() ? Character.digit(text.charAt(at + 2), HEX) : -1;
                int low = at + 3 < text.length() ? Character.digit(text.charAt(at + 3), HEX) : -1;
                if (high < 0 || low < 0) {
                    return 0;
                }
                value.append((char) (HEX * high + low));
                return 4;
            }
            default -> {
                return 0;
            }
        }
        return 2;
    }

    /**
     * Prevents text from a model file from opening or closing a comment, or from ending a line: a backslash separates
     * slash and star.
     */
    static String inComment(String text) {
        return text.replaceAll("(?<=/)(?=\\*)|(?<=\\*)(?=/)", "\\\\").replaceAll("[\n\r]", " ");
    }

    private static String shortest(double value, ToDoubleFunction<String> parse) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (value == 0 || Double.isInfinite(value)) {
            return (1 / value < 0 || value < 0 ? "-" : "") + (value == 0 ? "0" : "inf");
        }
        BigDecimal exact = new BigDecimal(value);
        for (int digits = 1; digits < DOUBLE_DIGITS; digits++) {
            // At a power of two the nearest decimal can lie on the narrow side, where only its neighbour parses to the
            // same value.
            int precision = digits;
            Optional<BigDecimal> found = Stream.of(RoundingMode.FLOOR, RoundingMode.CEILING)
                    .map(mode -> exact.round(new MathContext(precision, mode)))
                    .filter(decimal -> parse.applyAsDouble(decimal.toString()) == value)
                    .min(Comparator.comparing(decimal -> decimal.subtract(exact).abs()));
            if (found.isPresent()) {
                return plainOrScientific(found.get().stripTrailingZeros());
            }
        }
        return plainOrScientific(exact.round(new MathContext(DOUBLE_DIGITS)).stripTrailingZeros());
    }

    private static String plainOrScientific(BigDecimal decimal) {
        int exponent = decimal.precision() - decimal.scale() - 1;
        if (exponent >= -5 && exponent < 10) {
            return decimal.toPlainString();
        }
        return String.format(
                Locale.ROOT, "%se%+03d", decimal.movePointLeft(exponent).toPlainString(), exponent);
    }
}
