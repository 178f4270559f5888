// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.page;

import io.kiln.report.BuildReport.ReportedTensor;
import java.util.Locale;

/** Formats numbers and tensors for pages; what is null is not known and shown as nothing. */
public final class Shown {
    private static final double PERCENT = 100;
    private static final double KIB = 1024;
    private static final double MICROSECONDS = 1000;

    private Shown() {}

    /** A number with commas between thousands. */
    public static String count(Number value) {
        return value == null ? "" : String.format(Locale.ROOT, "%,d", value);
    }

    /** A number, or nothing for 0. */
    public static String some(long value) {
        return value == 0 ? "" : count(value);
    }

    /** Bytes, from 10 KiB on in KiB. */
    public static String bytes(long value) {
        return value < 10 * KIB ? count(value) + " B" : String.format(Locale.ROOT, "%,.1f KiB", value / KIB);
    }

    /** Five digits of a number. */
    public static String digits(Float value) {
        return value == null ? "" : String.format(Locale.ROOT, "%.5g", value);
    }

    /** A number without its fraction. */
    public static String whole(double value) {
        return String.format(Locale.ROOT, "%.0f", value);
    }

    /** A number, or a position in a picture, with one digit behind the point. */
    public static String tenths(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    /** A number with two digits behind the point. */
    public static String hundredths(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    /** The size of a difference between answers; 0 without a fraction. */
    public static String difference(double value) {
        return String.format(Locale.ROOT, "%.6g", value).replaceFirst("^0\\.0+$", "0");
    }

    /** An address of 32 bits. */
    public static String address(long value) {
        return String.format(Locale.ROOT, "0x%08x", value);
    }

    /** Microseconds in milliseconds. */
    public static String milliseconds(double microseconds) {
        return String.format(Locale.ROOT, "%,.2f ms", microseconds / MICROSECONDS);
    }

    public static String microseconds(Double value) {
        return value == null ? "" : String.format(Locale.ROOT, "%,.1f µs", value);
    }

    /** A ratio of signal to noise. */
    public static String decibels(Double value) {
        return value == null ? "" : tenths(value) + " dB";
    }

    /** A share in percent, at most 100: the width of a bar. */
    public static double share(Number part, Number all) {
        return all.doubleValue() > 0 ? Math.min(PERCENT, PERCENT * part.doubleValue() / all.doubleValue()) : 0;
    }

    /** A share in percent; nothing of nothing. */
    public static String percent(Number part, Number all) {
        return all.doubleValue() > 0 ? tenths(PERCENT * part.doubleValue() / all.doubleValue()) + " %" : "";
    }

    /** A share of 1 in percent. */
    public static String percent(double share) {
        return tenths(PERCENT * share) + " %";
    }

    /** What was saved, in percent of what it was. */
    public static String gain(Number before, Number after) {
        return before == null || after == null
                ? ""
                : percent(before.doubleValue() - after.doubleValue(), before.doubleValue());
    }

    /** Text that is cut where it gets too long for a cell. */
    public static String cut(String text, int longest) {
        return text.codePointCount(0, text.length()) <= longest
                ? text
                : text.substring(0, text.offsetByCodePoints(0, longest)) + "…";
    }

    public static String tensor(ReportedTensor tensor) {
        return tensor.dtype() + " " + tensor.shape().toString().replace(" ", "");
    }

    /** A tensor with its name and quantization. */
    public static String named(ReportedTensor tensor) {
        String scale = tensor.scale() == null ? "" : ", scale " + tensor.scale() + ", zero point " + tensor.zeroPoint();
        return tensor.name() + ": " + tensor(tensor) + scale;
    }
}
