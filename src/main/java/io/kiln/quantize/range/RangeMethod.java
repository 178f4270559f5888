// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import java.util.Locale;

/** How the range of a value is chosen from what the samples show. */
public enum RangeMethod {
    /** The extremes over all samples, as TensorFlow Lite's converter does. */
    MINMAX,
    /** Without the outermost 0.01 % of the elements at either end. */
    PERCENTILE,
    /** The range whose quantized distribution diverges least from that of the elements (Kullback and Leibler). */
    KL,
    /** The range with the smallest mean square error after quantizing. */
    MSE;

    /** The parameter's value. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
