// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
     */
    public static <T> List<T> unbeaten(List<T> all, Function<T, FitCost> cost) {
        Map<FitCost, T> first = new LinkedHashMap<>();
        all.forEach(each -> first.putIfAbsent(cost.apply(each), each));
        return first.keySet().stream()
                .filter(each -> first.keySet().stream().noneMatch(other -> other.beats(each)))
                .sorted(Comparator.comparingLong(FitCost::cycles)
                        .thenComparing(FitCost::flash)
                        .thenComparing(FitCost::ram))
                .map(first::get)
                .toList();
    }
}
