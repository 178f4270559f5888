// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.text;

import io.kiln.base.DType;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
