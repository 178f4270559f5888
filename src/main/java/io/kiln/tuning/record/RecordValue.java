// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A JSON value of a record. Numbers keep their text and objects the order of their keys, so that a record that was read is written as it was.
 * {@link #text} prints as Python's {@code json.dumps} does, which is what AutoTVM uses: a blank after commas and colons, ASCII only.
 */
public sealed interface RecordValue {
    /** {@code null}. */
    RecordValue NOTHING = new Nothing();

    /** The value on one line. */
    String text();

    record Text(String value) implements RecordValue {
        /** A number above all values of a {@code char}; added to one, it gives its hexadecimal digits leading zeros. */
        private static final int UNIT = 0x10000;

        @Override
        public String text() {
            StringBuilder text = new StringBuilder("\"");
            for (int i = 0; i < value.length(); i++) {
                char c = value.charAt(i);
                if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
                    text.append(c);
                } else {
                    text.append(escaped(c));
                }
            }
            return text.append('"').toString();
        }

        private static String escaped(char c) {
            return switch (c) {
                case '"' -> "\\\"";
                case '\\' -> "\\\\";
                case '\n' -> "\\n";
                case '\r' -> "\\r";
                case '\t' -> "\\t";
                case '\b' -> "\\b";
                case '\f' -> "\\f";
                default -> "\\u" + Integer.toHexString(UNIT + c).substring(1);
            };
        }
    }

    /**
     * A number.
     *
     * @param text its digits as they were read; Python also writes {@code NaN}, {@code Infinity} and {@code -Infinity}
     */
    record Numeric(String text) implements RecordValue {
        /** Beyond these powers of ten, Python prints an exponent. */
        private static final int LEAST_PLAIN = -4;

        private static final int MOST_PLAIN = 15;

        /** An integer. */
        public static Numeric of(long value) {
            return new Numeric(Long.toString(value));
        }

        /** A real number as Python prints it, such as {@code 1.5e-05} or {@code 3.0}. */
        public static Numeric of(double value) {
            if (Double.isNaN(value) || Double.isInfinite(value)) {
                return new Numeric(Double.toString(value));
            }
            BigDecimal exact = new BigDecimal(Double.toString(value)).stripTrailingZeros();
            int exponent = exact.precision() - exact.scale() - 1;
            if (exact.signum() == 0 || (exponent >= LEAST_PLAIN && exponent <= MOST_PLAIN)) {
                String plain = exact.toPlainString();
                return new Numeric(plain.contains(".") ? plain : plain + ".0");
            }
            String mantissa = exact.movePointLeft(exponent).toPlainString();
            return new Numeric(
                    String.format(Locale.ROOT, "%se%s%02d", mantissa, exponent < 0 ? "-" : "+", Math.abs(exponent)));
        }

        /** The nearest double. */
        public double real() {
            return switch (text) {
                case "Infinity", "+Infinity", "INF", "+INF" -> Double.POSITIVE_INFINITY;
                case "-Infinity", "-INF" -> Double.NEGATIVE_INFINITY;
                case "NaN" -> Double.NaN;
                default -> Double.parseDouble(text);
            };
        }

        /** The value, if it is a 64-bit integer without point and exponent. */
        public Optional<Long> integer() {
            try {
                return Optional.of(Long.parseLong(text));
            } catch (NumberFormatException e) {
                return Optional.empty();
            }
        }
    }

    /** {@code true} or {@code false}. */
    record Flag(boolean value) implements RecordValue {
        @Override
        public String text() {
            return Boolean.toString(value);
        }
    }

    /** {@code null}. */
    record Nothing() implements RecordValue {
        @Override
        public String text() {
            return "null";
        }
    }

    /** An array. */
    record Items(List<RecordValue> values) implements RecordValue {
        public Items {
            values = List.copyOf(values);
        }

        /** An array of these values. */
        public static Items of(RecordValue... values) {
            return new Items(Arrays.asList(values));
        }

        /** An array of integers. */
        public static Items of(List<Integer> values) {
            return new Items(values.stream()
                    .<RecordValue>map(value -> Numeric.of(value.longValue()))
                    .toList());
        }

        @Override
        public String text() {
            return values.stream().map(RecordValue::text).collect(Collectors.joining(", ", "[", "]"));
        }
    }

    /** An object. */
    record Members(Map<String, RecordValue> values) implements RecordValue {
        public Members {
            values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
        }

        /** A value, if it is there. */
        public Optional<RecordValue> find(String key) {
            return Optional.ofNullable(values.get(key));
        }

        @Override
        public String text() {
            return values.entrySet().stream()
                    .map(member -> new Text(member.getKey()).text() + ": "
                            + member.getValue().text())
                    .collect(Collectors.joining(", ", "{", "}"));
        }
    }
}
