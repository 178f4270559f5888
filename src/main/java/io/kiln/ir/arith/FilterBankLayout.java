// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.arith;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The energies and weights of each channel of a filter bank.
 *
 * @param channels starting with the one below the first
 */
public record FilterBankLayout(List<Channel> channels) {
    /**
     * A channel.
     *
     * @param energy index of its first energy
     * @param weight index of its first weight and unweight
     * @param width number of energies and of weights
     */
    public record Channel(int energy, int weight, int width) {
        private boolean isEnergyWithin(int count) {
            return width <= 0 || (energy >= 0 && energy + width <= count);
        }

        private boolean isWeightWithin(int count) {
            return width <= 0 || (weight >= 0 && weight + width <= count);
        }
    }

    public FilterBankLayout {
        channels = List.copyOf(channels);
    }

    /**
     * A layout from its tables.
     *
     * @param count number of channels, including the one below the first
     */
    public static FilterBankLayout of(
            int count, IntUnaryOperator energies, IntUnaryOperator weights, IntUnaryOperator widths) {
        return new FilterBankLayout(IntStream.range(0, count)
                .mapToObj(i -> new Channel(energies.applyAsInt(i), weights.applyAsInt(i), widths.applyAsInt(i)))
                .toList());
    }

    /**
     * Channels that reach beyond the data or the weights; for each kind the first channel and the number of others.
     *
     * @param energies number of energies
     * @param weights number of weights
     */
    public List<String> problems(int energies, int weights) {
        List<String> problems = new ArrayList<>();
        note(problems, c -> c.width() < 0, "has a negative width");
        note(problems, c -> !c.isEnergyWithin(energies), "takes energies outside of the " + energies + " of the data");
        note(problems, c -> !c.isWeightWithin(weights), "takes weights outside of the " + weights + " there are");
        return problems;
    }

    private void note(List<String> problems, Predicate<Channel> wrong, String what) {
        int[] found = IntStream.range(0, channels.size())
                .filter(i -> wrong.test(channels.get(i)))
                .toArray();
        if (found.length > 0) {
            Channel first = channels.get(found[0]);
            String more = found.length == 1 ? "" : ", as do " + (found.length - 1) + " more entries";
            problems.add("entry " + found[0] + " of the channels (frequency start " + first.energy() + ", weight start "
                    + first.weight() + ", width " + first.width() + ") " + what + more);
        }
    }
}
