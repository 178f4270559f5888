// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.autotvm;

import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Items;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * How an axis is split: {@code define_split}. The first size is -1, the rest of the axis; the factor of the last output varies slowest.
 *
 * @param length of the axis
 * @param policy which factors there are
 * @param outputs number of axes after the split
 * @param mostFactor the largest factor
 * @param noTail whether the factors must divide the axis
 * @param filter of the sizes
 */
public record SplitKnob(
        int length, Policy policy, int outputs, long mostFactor, boolean noTail, Predicate<List<Integer>> filter) {
    /** The factors of an axis. */
    public enum Policy {
        /** Divisors. */
        FACTORS,
        /** Powers of 2 up to the length. */
        POWER2,
        /** Both. AutoTVM keeps them in the order of a Python set, which cannot be relied on; here they ascend. */
        VERBOSE
    }

    /** The sizes one by one. */
    public KnobSpace named(String name) {
        List<RecordValue> values = new ArrayList<>();
        generate(factors(), new ArrayList<>(), values);
        return new KnobSpace(name, "sp", values);
    }

    /** A split with the sizes given; AutoTVM filters these, too. */
    public static KnobSpace candidates(String name, List<List<Integer>> sizes, Predicate<List<Integer>> filter) {
        return new KnobSpace(
                name,
                "sp",
                sizes.stream().filter(filter).<RecordValue>map(Items::of).toList());
    }

    private List<Integer> factors() {
        TreeSet<Integer> factors = new TreeSet<>();
        for (int f = 1; f <= length; f++) {
            boolean divides = policy != Policy.POWER2 && length % f == 0;
            boolean isPower = policy != Policy.FACTORS && Integer.bitCount(f) == 1;
            if (f <= mostFactor && (divides || isPower)) {
                factors.add(f);
            }
        }
        return List.copyOf(factors);
    }

    private void generate(List<Integer> factors, List<Integer> chosen, List<RecordValue> values) {
        if (chosen.size() < outputs - 1) {
            for (int factor : factors) {
                chosen.add(factor);
                generate(factors, chosen, values);
                chosen.remove(chosen.size() - 1);
            }
            return;
        }
        long product = chosen.stream().mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b);
        List<Integer> sizes = new ArrayList<>(List.of(-1));
        for (int i = chosen.size() - 1; i >= 0; i--) {
            sizes.add(chosen.get(i));
        }
        boolean fits = length % product == 0 || (!noTail && product < length);
        if (product <= length && fits && filter.test(sizes)) {
            values.add(Items.of(sizes));
        }
    }
}
