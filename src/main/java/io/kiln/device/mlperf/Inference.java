// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.mlperf;

import java.util.List;

/**
 * What a device says of some inferences with one input.
 *
 * @param results of the last one
 * @param start microseconds of the device's clock before them
 * @param end likewise behind them
 * @param iterations number of inferences
 * @param warmups inferences before them that are not measured
 */
public record Inference(List<Double> results, long start, long end, int iterations, int warmups) {
    private static final double MICROSECONDS = 1e6;

    public Inference {
        results = List.copyOf(results);
    }

    /** Microseconds of all inferences. */
    public long elapsed() {
        return end - start;
    }

    /** Inferences per second; 0 if the clock has not moved. */
    public double throughput() {
        return elapsed() == 0 ? 0 : iterations * MICROSECONDS / elapsed();
    }

    /** The place of the largest result, the first of equal ones. */
    public int largest() {
        int largest = 0;
        for (int i = 1; i < results.size(); i++) {
            largest = results.get(i) > results.get(largest) ? i : largest;
        }
        return largest;
    }
}
