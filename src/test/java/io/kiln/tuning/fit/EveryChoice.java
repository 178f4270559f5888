// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import io.kiln.tuning.fit.FitTable.Layer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** All choices of one option for each layer of a table, for comparison with what a search finds. */
public final class EveryChoice {
    private EveryChoice() {}

    /** The options' numbers, in the order of the layers. */
    public static List<List<Integer>> of(FitTable table) {
        List<List<Integer>> all = List.of(List.of());
        for (Layer layer : table.layers()) {
            all = all.stream()
                    .flatMap(begin -> IntStream.range(0, layer.options().size()).mapToObj(option -> {
                        List<Integer> longer = new ArrayList<>(begin);
                        longer.add(option);
                        return longer;
                    }))
                    .toList();
        }
        return all;
    }
}
