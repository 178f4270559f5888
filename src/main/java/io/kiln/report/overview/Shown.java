// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.report.ReportedTensor;
import java.util.Locale;

/** Formats numbers and tensors for the page. */
final class Shown {
    static final double PERCENT = 100;
    private static final double KIB = 1024;

    private Shown() {}

    static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    /** A number, or nothing for null. */
    static String known(Long value) {
        return value == null ? "" : count(value);
    }

    /** Bytes, from 10 KiB on in KiB. */
    static String bytes(long value) {
        return value < 10 * KIB ? count(value) + " B" : String.format(Locale.ROOT, "%,.1f KiB", value / KIB);
    }

    static double share(double part, double whole) {
        return whole > 0 ? PERCENT * part / whole : 0;
    }

    /** A share of bytes, in percent. */
    static double share(long part, long whole) {
        return share((double) part, (double) whole);
    }

    static String percent(long part, long whole) {
        return percent((double) part, (double) whole);
    }

    static String percent(double part, double whole) {
        return whole > 0 ? String.format(Locale.ROOT, "%.1f %%", share(part, whole)) : "";
    }

    /** A bar for a share of at most 100 %. */
    static String bar(double percent) {
        return String.format(
                Locale.ROOT,
                "<span class=\"bar\"><span style=\"width: %.1f%%\"></span></span>",
                Math.min(PERCENT, percent));
    }

    static String tensor(ReportedTensor tensor) {
        return tensor.dtype() + " " + tensor.shape().toString().replace(" ", "");
    }

    /** A tensor with its name and quantization. */
    static String whole(ReportedTensor tensor) {
        String scale = tensor.scale() == null ? "" : ", scale " + tensor.scale() + ", zero point " + tensor.zeroPoint();
        return tensor.name() + ": " + tensor(tensor) + scale;
    }
}
