// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.quantize.range.RangeMethod;
import java.util.List;
import java.util.Optional;

/**
 * How a model is quantized.
 *
 * @param mode what it is turned into
 * @param method how ranges are chosen
 * @param keepFloat names of layers that stay float; {@code *} stands for any characters
 * @param floatBorder whether inputs and outputs stay float
 * @param limits what the result must keep
 */
public record QuantizeOptions(
        QuantizeMode mode, RangeMethod method, List<String> keepFloat, boolean floatBorder, Limits limits) {
    /** The model stays as it is. */
    public static final QuantizeOptions NONE = of(QuantizeMode.NONE);

    public QuantizeOptions {
        keepFloat = List.copyOf(keepFloat);
    }

    /** The defaults for a mode: extremes, integer inputs and outputs, no limits. */
    public static QuantizeOptions of(QuantizeMode mode) {
        return new QuantizeOptions(mode, RangeMethod.MINMAX, List.of(), false, Limits.NONE);
    }

    /** Whether there is anything to do. */
    public boolean isActive() {
        return mode != QuantizeMode.NONE;
    }

    /**
     * What a quantized model must keep.
     *
     * @param maxAccuracyLoss largest loss of accuracy on labelled samples, in percentage points
     * @param minSqnr smallest signal-to-quantization-noise ratio of any output, in dB
     */
    public record Limits(Optional<Double> maxAccuracyLoss, Optional<Double> minSqnr) {
        /** No limits. */
        public static final Limits NONE = new Limits(Optional.empty(), Optional.empty());
    }
}
