// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import java.util.Optional;
import java.util.function.LongToIntFunction;

/** Finds where a requantization, a monotone function of the accumulator, steps from one result to the next. */
final class RequantizeSteps {
    private RequantizeSteps() {}

    /**
     * For each value above the lowest, the first accumulator at which the reference reaches it; one past the bound if none does.
     *
     * @param bound largest magnitude of the accumulator, without the bias
     */
    static long[] of(ProvenRequantize.Reference reference, int channel, long bound) {
        long offset = reference.offset(channel);
        Optional<RequantizeInverse> inverse =
                RequantizeInverse.of(reference.requantization(), channel, bound + Math.abs(offset));
        if (inverse.isEmpty()) {
            return searched(reference, channel, bound);
        }
        int first = reference.low() + 1 - reference.requantization().outputZeroPoint();
        long[] steps = new long[Math.max(0, reference.high() - reference.low())];
        for (int i = 0; i < steps.length; i++) {
            long step = inverse.get().firstAtLeast(first + i) - offset;
            steps[i] = Math.max(-bound, Math.min(bound + 1, step));
        }
        return steps;
    }

    /** Finds the same steps by search, from the reference's results alone, for any monotone reference. Steps are about equally wide. */
    static long[] searched(ProvenRequantize.Reference reference, int channel, long bound) {
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
