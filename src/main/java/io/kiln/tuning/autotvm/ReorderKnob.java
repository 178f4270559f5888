// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.autotvm;

import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Items;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Orders of axes: {@code define_reorder}. TVM itself cannot write the order {@code identity} into a record. */
public final class ReorderKnob {
    private ReorderKnob() {}

    /** The order as it is. */
    public static KnobSpace identity(String name, int axes) {
        return candidates(name, List.of(range(0, axes)));
    }

    /** All orders. */
    public static KnobSpace all(String name, int axes) {
        return interval(name, axes, 0, axes);
    }

    /** All orders of the axes from a position to another one, which is excluded. */
    public static KnobSpace interval(String name, int axes, int begin, int end) {
        List<List<Integer>> orders = new ArrayList<>();
        int last = Math.min(end, axes);
        permute(range(begin, Math.max(begin, end)), new ArrayList<>(), inner -> {
            List<Integer> order = new ArrayList<>(range(0, begin));
            order.addAll(inner);
            order.addAll(range(last, axes));
            orders.add(order);
        });
        return candidates(name, orders);
    }

    /** The orders given. */
    public static KnobSpace candidates(String name, List<List<Integer>> orders) {
        return new KnobSpace(
                name, "re", orders.stream().<RecordValue>map(Items::of).toList());
    }

    private static List<Integer> range(int begin, int end) {
        return IntStream.range(begin, end).boxed().toList();
    }

    /** In the order of Python's {@code itertools.permutations}. */
    private static void permute(List<Integer> rest, List<Integer> chosen, Consumer<List<Integer>> found) {
        if (rest.isEmpty()) {
            found.accept(List.copyOf(chosen));
            return;
        }
        for (int i = 0; i < rest.size(); i++) {
            List<Integer> others = new ArrayList<>(rest);
            chosen.add(others.remove(i));
            permute(others, chosen, found);
            chosen.remove(chosen.size() - 1);
        }
    }
}
