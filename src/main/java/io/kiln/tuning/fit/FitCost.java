// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/**
 * What a program costs.
 *
 * @param cycles of one inference
 * @param flash bytes of read-only memory
 * @param ram bytes of writable memory
 */
public record FitCost(long cycles, long flash, long ram) {
    /** Whether it is at most as large in everything, and smaller in something. */
    public boolean beats(FitCost other) {
        return cycles <= other.cycles && flash <= other.flash && ram <= other.ram && !equals(other);
    }

    /**
     * What no other beats, one of each cost, the fastest first.
     *
     * @param all things with costs
     * @param cost the cost of one
     */
    public static <T> List<T> unbeaten(List<T> all, Function<T, FitCost> cost) {
        List<T> one = all.stream()
                .filter(each -> all.stream().map(cost).noneMatch(other -> other.beats(cost.apply(each))))
                .filter(each -> all.stream()
                                .filter(other -> cost.apply(other).equals(cost.apply(each)))
                                .findFirst()
                                .orElseThrow()
                        == each)
                .sorted(Comparator.comparingLong((T each) -> cost.apply(each).cycles)
                        .thenComparing(each -> cost.apply(each).flash)
                        .thenComparing(each -> cost.apply(each).ram))
                .toList();
        return List.copyOf(one);
    }
}
