// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.ir.Function;
import io.kiln.quantize.equalize.Equalization;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.quality.Quality;
import io.kiln.quantize.range.ValueRange;
import java.util.List;
import java.util.Map;

/**
 * A quantized model with what is known about it.
 *
 * @param network the model in integers
 * @param equalized where channels were equalized, in execution order
 * @param ranges the range of each float value that the scales come from
 * @param quality how it compares with the float model
 * @param samples number of samples
 * @param advice what helps the layers that lose most, best first; empty if nothing does, or after a search
 * @param trials what a search tried, in order; empty without one
 */
public record Quantized(
        QuantizedNetwork network,
        List<Equalization.Step> equalized,
        Map<Integer, ValueRange> ranges,
        Quality quality,
        int samples,
        List<Advice> advice,
        List<Trial> trials) {
    public Quantized {
        equalized = List.copyOf(equalized);
        ranges = Map.copyOf(ranges);
        advice = List.copyOf(advice);
        trials = List.copyOf(trials);
    }

    /** The function to compile. */
    public Function function() {
        return network.function();
    }

    /**
     * What another precision for one layer gives back, measured over all samples.
     *
     * @param layer its name
     * @param precision {@code float} or {@code int16}
     * @param sqnr the output's signal-to-quantization-noise ratio with it, in dB
     */
    public record Advice(String layer, String precision, double sqnr) {}

    /**
     * One step of a search.
     *
     * @param layers the layers that do not have the usual precision, with theirs
     * @param sqnr the output's signal-to-quantization-noise ratio, in dB
     * @param agreement share of samples with the same class as the float model
     * @param isEnough whether it keeps what was asked for
     */
    public record Trial(Map<String, String> layers, double sqnr, double agreement, boolean isEnough) {
        public Trial {
            layers = Map.copyOf(layers);
        }
    }
}
