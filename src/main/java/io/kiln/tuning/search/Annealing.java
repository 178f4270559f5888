// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;

/**
 * AutoTVM's simulated annealing: 128 walkers, which are kept from call to call, change one knob in each of 500 steps at most; the temperature
 * falls from 1 to 0.
 */
final class Annealing {
    private static final int WALKERS = 128;
    private static final int STEPS = 500;
    private static final int PATIENCE = 50;
    private static final int ATTEMPTS = 16;

    private final SearchSpace space;
    private final SplittableRandom random;
    private final int[] walkers;

    Annealing(SearchSpace space, SplittableRandom random) {
        this.space = space;
        this.random = random;
        this.walkers = random.ints(WALKERS, 0, space.size()).toArray();
    }

    /**
     * The points with the largest values among those that walkers came by, the largest first.
     *
     * @param value what is sought; compared by differences to the temperature
     * @param most number of points
     * @param visited points that are left out
     */
    List<Integer> best(IntToDoubleFunction value, int most, Visited visited) {
        Map<Integer, Double> found = new TreeMap<>();
        double[] values = new double[WALKERS];
        for (int i = 0; i < WALKERS; i++) {
            values[i] = value.applyAsDouble(walkers[i]);
            found.put(walkers[i], values[i]);
        }
        int idle = 0;
        for (int step = 0; step < STEPS && idle < PATIENCE; step++) {
            double temperature = 1 - (double) step / STEPS;
            int before = found.size();
            for (int i = 0; i < WALKERS; i++) {
                int neighbour = neighbour(walkers[i]);
                double next = found.computeIfAbsent(neighbour, value::applyAsDouble);
                if (next >= values[i] || random.nextDouble() < Math.exp((next - values[i]) / temperature)) {
                    walkers[i] = neighbour;
                    values[i] = next;
                }
            }
            idle = found.size() == before ? idle + 1 : 0;
        }
        List<Integer> points = new ArrayList<>(found.keySet());
        points.removeIf(visited::contains);
        points.sort(Comparator.comparingDouble(found::get).reversed());
        return points.subList(0, Math.min(most, points.size()));
    }

    /** A point that differs in one knob; a random point if all attempts lead into holes of the space. */
    private int neighbour(int point) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            List<Integer> vector = new ArrayList<>(space.point(point));
            int knob = random.nextInt(vector.size());
            vector.set(knob, random.nextInt(space.dimensions().get(knob)));
            int neighbour = space.find(vector).orElse(point);
            if (neighbour != point) {
                return neighbour;
            }
        }
        return random.nextInt(space.size());
    }
}
