// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.fit;

import io.kiln.tuning.fit.FitTable.FitCost;
import io.kiln.tuning.fit.FitTable.Layer;
import io.kiln.tuning.fit.FitTable.Option;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Searches the options of a program's layers. A limit of RAM strikes options, because the layer that needs most decides. A limit of flash gets a
 * price per byte (a Lagrange multiplier): with a price the layers are independent but for the parts that they share, so that
 * one layer after another takes its cheapest option, and layers also move to a shared part together. From the best of all prices that keep the limit,
 * single layers, pairs, and all layers of a shared part change as long as that saves cycles.
 */
public final class FitSearch {
    /** Prices of a byte of flash in cycles: 2 to the power of so many quarters. */
    private static final int LOWEST_PRICE = -40;

    private static final int HIGHEST_PRICE = 100;
    private static final double QUARTER = 0.25;

    /** Above so many layers pairs are too many. */
    private static final int MOST_FOR_PAIRS = 200;

    /** The fastest programs by prices that are improved. */
    private static final int MOST_IMPROVED = 8;

    private static final int MOST_OF_RAM = 6;

    private final FitTable table;
    private final List<Layer> layers;
    private final List<List<Move>> together;

    /** Changes of a layer's option. */
    private record Move(int layer, int option) {}

    public FitSearch(FitTable table) {
        this.table = table;
        this.layers = table.layers();
        this.together = together();
    }

    /** For each part that several layers can share: the first option of each layer that has it. */
    private List<List<Move>> together() {
        Map<String, Map<Integer, Move>> sharing = new LinkedHashMap<>();
        for (int i = 0; i < layers.size(); i++) {
            List<Option> options = layers.get(i).options();
            for (int j = 0; j < options.size(); j++) {
                for (String part : options.get(j).parts().keySet()) {
                    sharing.computeIfAbsent(part, name -> new LinkedHashMap<>()).putIfAbsent(i, new Move(i, j));
                }
            }
        }
        return sharing.values().stream()
                .filter(moves -> moves.size() > 1)
                .map(moves -> List.copyOf(moves.values()))
                .distinct()
                .toList();
    }

    /**
     * The options of the fastest program within limits, as the table has it.
     *
     * @return the number of each layer's option; empty if nothing was found within the limits
     */
    public Optional<List<Integer>> best(FitLimits limits) {
        List<Set<Integer>> allowed = allowed(limits.ram().orElse(Long.MAX_VALUE));
        if (allowed.stream().anyMatch(Set::isEmpty)) {
            return Optional.empty();
        }
        Set<List<Integer>> candidates = new LinkedHashSet<>(priced(allowed));
        candidates.addAll(uniform(allowed));
        return candidates.stream()
                .filter(candidate -> limits.allow(table.cost(candidate)))
                .sorted(Comparator.comparingLong(this::cycles))
                .limit(MOST_IMPROVED)
                .map(candidate -> improved(candidate, allowed, limits))
                .min(Comparator.comparingLong(this::cycles));
    }

    private long cycles(List<Integer> choice) {
        return table.cost(choice).cycles();
    }

    /** Options of programs that no other of those that were found beats, the fastest first. */
    public List<List<Integer>> front() {
        TreeSet<Long> needs = new TreeSet<>();
        layers.forEach(layer -> layer.options().forEach(option -> needs.add(option.ram())));
        List<Long> steps = List.copyOf(needs);
        Set<List<Integer>> found = new LinkedHashSet<>();
        for (int i = 0; i < Math.min(MOST_OF_RAM, steps.size()); i++) {
            int step = steps.size() <= MOST_OF_RAM ? i : (steps.size() - 1) * i / (MOST_OF_RAM - 1);
            List<Set<Integer>> allowed = allowed(table.rest().ram() + steps.get(step));
            if (allowed.stream().noneMatch(Set::isEmpty)) {
                found.addAll(priced(allowed));
            }
        }
        return FitCost.unbeaten(List.copyOf(found), table::cost);
    }

    /** The options of each layer that do not need more RAM. */
    private List<Set<Integer>> allowed(long ram) {
        return layers.stream()
                .<Set<Integer>>map(layer -> {
                    Set<Integer> few = new TreeSet<>();
                    for (int i = 0; i < layer.options().size(); i++) {
                        if (table.rest().ram() + layer.options().get(i).ram() <= ram) {
                            few.add(i);
                        }
                    }
                    return few;
                })
                .toList();
    }

    /** The first allowed option of each layer, the second, and so on; a layer without that many takes its last. */
    private List<List<Integer>> uniform(List<Set<Integer>> allowed) {
        int most = allowed.stream().mapToInt(Set::size).max().orElse(0);
        return IntStream.range(0, most)
                .mapToObj(number -> allowed.stream()
                        .map(few -> List.copyOf(few).get(Math.min(number, few.size() - 1)))
                        .toList())
                .toList();
    }

    /** The cheapest programs by each price of flash. */
    private Collection<List<Integer>> priced(List<Set<Integer>> allowed) {
        Set<List<Integer>> found = new LinkedHashSet<>();
        List<List<Integer>> starts = uniform(allowed);
        for (int price = LOWEST_PRICE; price <= HIGHEST_PRICE; price += 2) {
            double perByte = Math.pow(2, price * QUARTER);
            for (List<Integer> start : starts) {
                FitState state = new FitState(table, start);
                descend(state, allowed, perByte);
                found.add(state.choice());
            }
        }
        return found;
    }

    private void descend(FitState state, List<Set<Integer>> allowed, double perByte) {
        double cost = state.cycles() + perByte * state.flash();
        for (boolean isBetter = true; isBetter; ) {
            isBetter = false;
            for (List<Move> moves : moves(allowed)) {
                List<Move> back = make(state, moves);
                double other = state.cycles() + perByte * state.flash();
                if (other < cost) {
                    cost = other;
                    isBetter = true;
                } else {
                    make(state, back);
                }
            }
        }
    }

    /** Changes of one layer, and of all layers to a part that they share. */
    private List<List<Move>> moves(List<Set<Integer>> allowed) {
        List<List<Move>> moves = new ArrayList<>();
        for (int i = 0; i < layers.size(); i++) {
            for (int option : allowed.get(i)) {
                moves.add(List.of(new Move(i, option)));
            }
        }
        for (List<Move> all : together) {
            List<Move> possible = all.stream()
                    .filter(move -> allowed.get(move.layer).contains(move.option))
                    .toList();
            if (possible.size() > 1) {
                moves.add(possible);
            }
        }
        return moves;
    }

    private static List<Move> make(FitState state, List<Move> moves) {
        List<Move> back = new ArrayList<>();
        for (Move move : moves) {
            back.add(new Move(move.layer, state.take(move.layer, move.option)));
        }
        return back;
    }

    private List<Integer> improved(List<Integer> first, List<Set<Integer>> allowed, FitLimits limits) {
        FitState state = new FitState(table, first);
        List<List<Move>> moves = moves(allowed);
        long most = limits.flash().orElse(Long.MAX_VALUE);
        Set<List<Integer>> seen = new HashSet<>();
        while (seen.add(state.choice())) {
            for (List<Move> one : moves) {
                long cycles = state.cycles();
                List<Move> back = make(state, one);
                if ((state.cycles() >= cycles || state.flash() > most)
                        && !isBetterWith(state, cycles, most, layers.size() > MOST_FOR_PAIRS ? List.of() : moves)) {
                    make(state, back);
                }
            }
        }
        return state.choice();
    }

    /** Whether another change makes up for the last one; it is made then. */
    private static boolean isBetterWith(FitState state, long cycles, long most, List<List<Move>> moves) {
        for (List<Move> other : moves) {
            List<Move> back = make(state, other);
            if (state.cycles() < cycles && state.flash() <= most) {
                return true;
            }
            make(state, back);
        }
        return false;
    }

    /** A choice that changes, with its cycles and bytes of flash; a change costs as much time as its option has parts. Not thread-safe. */
    private static final class FitState {
        private final FitTable table;
        private final List<Integer> choice;
        private final Map<String, Integer> users = new HashMap<>();
        private long cycles;
        private long flash;

        FitState(FitTable table, List<Integer> choice) {
            this.table = table;
            this.choice = new ArrayList<>(choice);
            this.cycles = table.rest().cycles();
            this.flash = table.rest().flash();
            for (int i = 0; i < choice.size(); i++) {
                add(option(i));
            }
        }

        private Option option(int layer) {
            return table.layers().get(layer).options().get(choice.get(layer));
        }

        /** Takes another option for a layer, and returns the one before. */
        int take(int layer, int option) {
            int before = choice.get(layer);
            if (before != option) {
                remove(option(layer));
                choice.set(layer, option);
                add(option(layer));
            }
            return before;
        }

        private void add(Option option) {
            cycles += option.cycles();
            option.parts().forEach((part, bytes) -> {
                if (users.merge(part, 1, Integer::sum) == 1) {
                    flash += bytes;
                }
            });
        }

        private void remove(Option option) {
            cycles -= option.cycles();
            option.parts().forEach((part, bytes) -> {
                if (users.merge(part, -1, Integer::sum) == 0) {
                    flash -= bytes;
                }
            });
        }

        long cycles() {
            return cycles;
        }

        long flash() {
            return flash;
        }

        List<Integer> choice() {
            return List.copyOf(choice);
        }
    }

    /**
     * The most memory that an image may take.
     *
     * @param flash bytes of read-only memory; empty for any number
     * @param ram bytes of writable memory; empty for any number
     */
    public record FitLimits(OptionalLong flash, OptionalLong ram) {
        /** Any number of bytes. */
        public static final FitLimits NONE = new FitLimits(OptionalLong.empty(), OptionalLong.empty());

        /** Whether an image of such a cost may be. */
        public boolean allow(FitCost cost) {
            return cost.flash() <= flash.orElse(Long.MAX_VALUE) && cost.ram() <= ram.orElse(Long.MAX_VALUE);
        }
    }
}
