// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.quality;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How well a quantized network answers what the float one does.
 *
 * @param nodes noise of each node's result by its id in the float network
 * @param outputs noise of each model output
 * @param agreement share of the samples for which both choose the same class: the largest element of the first output
 * @param accuracy share of right classes, if all samples have labels
 */
public record Quality(Map<Integer, Noise> nodes, List<Noise> outputs, double agreement, Optional<Accuracy> accuracy) {
    public Quality {
        nodes = Map.copyOf(nodes);
        outputs = List.copyOf(outputs);
    }

    /**
     * Shares of right classes, from 0 to 1.
     *
     * @param real of the float network
     * @param quantized of the quantized one
     */
    public record Accuracy(double real, double quantized) {
        /** What is lost, in percentage points; negative if quantizing helps. */
        public double loss() {
            return 100 * (real - quantized);
        }
    }

    /** The smallest signal-to-quantization-noise ratio of an output, in dB. */
    public double sqnr() {
        return outputs.stream().mapToDouble(Noise::decibels).min().orElse(Double.NaN);
    }
}
