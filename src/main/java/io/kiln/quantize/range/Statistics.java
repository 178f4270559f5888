// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.range;

import java.util.Map;

/**
 * What calibration finds out.
 *
 * @param ranges the range of each float value and variable
 * @param means the mean of each channel, the last dimension, of each float value
 * @param magnitudes the largest magnitude of each channel of each float value
 */
public record Statistics(
        Map<Integer, ValueRange> ranges, Map<Integer, double[]> means, Map<Integer, float[]> magnitudes) {
    public Statistics {
        ranges = Map.copyOf(ranges);
        means = Map.copyOf(means);
        magnitudes = Map.copyOf(magnitudes);
    }
}
