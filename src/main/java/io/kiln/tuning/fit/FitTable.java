// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import io.kiln.schedule.LayerGoal;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * A program as a sum: the costs of its layers with each goal, and those of the rest. Cycles add up. Of flash, parts with one name are there once,
 * because layers share kernels. RAM is that of the layer that needs most, because they run one after another.
 *
 * @param rest what the program costs without its layers
 * @param layers in the order of execution
 */
public record FitTable(FitCost rest, List<Layer> layers) {
    public FitTable {
        layers = List.copyOf(layers);
    }

    /**
     * A layer.
     *
     * @param name of its C function
     * @param options what can be chosen, at least one
     */
    public record Layer(String name, List<Option> options) {
        public Layer {
            options = List.copyOf(options);
        }
    }

    /**
     * A layer with a goal.
     *
     * @param goal what its schedule is chosen for
     * @param cycles of one inference
     * @param ram bytes that are alive while it runs
     * @param parts functions and tables in flash, with their bytes, by name; a name means the same part in every option of the program
     */
    public record Option(LayerGoal goal, long cycles, long ram, SortedMap<String, Long> parts) {
        public Option {
            parts = Collections.unmodifiableSortedMap(new TreeMap<>(parts));
        }
    }

    /**
     * The cost of the program.
     *
     * @param choice the number of each layer's option
     */
    public FitCost cost(List<Integer> choice) {
        long cycles = rest.cycles();
        long ram = 0;
        Map<String, Long> parts = new HashMap<>();
        for (int i = 0; i < layers.size(); i++) {
            Option option = layers.get(i).options.get(choice.get(i));
            cycles += option.cycles;
            ram = Math.max(ram, option.ram);
            parts.putAll(option.parts);
        }
        return new FitCost(
                cycles,
                rest.flash()
                        + parts.values().stream().mapToLong(Long::longValue).sum(),
                rest.ram() + ram);
    }

    /** The goals of a choice, by the names of the layers' functions. */
    public SortedMap<String, LayerGoal> goals(List<Integer> choice) {
        SortedMap<String, LayerGoal> goals = new TreeMap<>();
        for (int i = 0; i < layers.size(); i++) {
            Layer layer = layers.get(i);
            goals.put(layer.name, layer.options.get(choice.get(i)).goal);
        }
        return goals;
    }

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
}
