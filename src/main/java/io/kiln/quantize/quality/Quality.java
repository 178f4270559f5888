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

    /**
     * The power of a signal and of the difference to it.
     *
     * @param signal sum of squares
     * @param noise sum of squared differences
     */
    public record Noise(double signal, double noise) {
        /** Nothing measured. */
        public static final Noise NOTHING = new Noise(0, 0);

        private static final double MOST = 200;

        /** The sums over both. */
        public Noise plus(Noise other) {
            return new Noise(signal + other.signal, noise + other.noise);
        }

        /** Signal-to-quantization-noise ratio in dB, from -200 to 200. */
        public double decibels() {
            if (noise == 0) {
                return MOST;
            }
            return signal == 0 ? -MOST : Math.max(-MOST, Math.min(MOST, 10 * Math.log10(signal / noise)));
        }
    }
}
