// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import java.util.function.LongToIntFunction;

/** Where a rescaling, a monotone function of the accumulator, steps from one result to the next. */
final class RescaleSteps {
    private RescaleSteps() {}

    /**
     * For each value above the lowest, the first accumulator at which the reference reaches it. Steps are about equally
     * wide.
     */
    static long[] of(ProvenRescale.Reference reference, int channel, long bound) {
        LongToIntFunction results = reference.results(channel);
        long[] steps = new long[Math.max(0, reference.high() - reference.low())];
        long last = -bound;
        long width = 1;
        for (int i = 0; i < steps.length; i++) {
            steps[i] = firstAtLeast(results, bound, reference.low() + 1 + i, last, last + width);
            width = steps[i] - last;
            last = steps[i];
        }
        return steps;
    }

    /**
     * First accumulator for which the reference reaches a value; one past the bound if none does.
     *
     * @param from no accumulator below it reaches the value
     * @param guess start of the search
     */
    private static long firstAtLeast(LongToIntFunction results, long bound, int value, long from, long guess) {
        long below = from - 1;
        long reached = bound + 1;
        long probe = Math.max(from, Math.min(bound, guess));
        for (long reach = 1; reached - below > 1; reach *= 2) {
            boolean isReached = results.applyAsInt(probe) >= value;
            if (isReached) {
                reached = probe;
            } else {
                below = probe;
            }
            boolean isBetweenProbes = below >= from && reached <= bound;
            probe = isBetweenProbes
                    ? Math.floorDiv(below + reached, 2)
                    : isReached ? Math.max(from, probe - reach) : Math.min(bound, probe + reach);
        }
        return reached;
    }
}
