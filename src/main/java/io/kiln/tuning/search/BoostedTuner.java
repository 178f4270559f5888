// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import io.kiln.tuning.search.Tuner.SearchSpace;
import io.kiln.tuning.search.Tuner.Visited;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;

/**
 * AutoTVM's search with a model of the cost ({@code xgb}): boosted trees learn from all measurements so far and propose the next plan, with 5 %
 * of random points. In large spaces {@link Annealing} looks for what the trees think best; small ones are predicted point by point. A plan has
 * 64 points, in small spaces fewer. Other than AutoTVM's, it counts {@link Novelty} in a point's favour: else a schedule whose only measured
 * configuration is slow is not tried again before all others.
 *
 * <p>Measurements of other shapes of the same template, if there are any, train a second model: it makes the first plan, and its share in
 * the predictions halves with every plan.
 */
public final class BoostedTuner implements Tuner {
    private static final int MOST_PLANNED = 64;
    private static final int LEAST_PLANNED = 2;
    private static final int POINTS_OF_A_PLANNED = 32;
    private static final double RANDOM_SHARE = 0.05;
    private static final int PREDICTED_WHOLE = 4096;
    private static final int LEAST_TRANSFERRED = 16;
    private static final double LEAST_DISCOUNT = 0.05;

    /** Weight of the novelty in the score of a point; the best measurement so far has a score of 1. */
    private static final double WEIGHT_OF_NOVELTY = 0.4;

    /** Annealing finds this many times the points of a plan, from which the plan is picked. */
    private static final int CHOICE = 4;

    /**
     * A measurement of another shape.
     *
     * @param features as those of the points of the space
     * @param score relative to the best of its shape
     */
    public record Sample(List<Double> features, double score) {
        public Sample {
            features = List.copyOf(features);
        }

        /** A measurement of a point. */
        public static Sample of(double[] features, double score) {
            return new Sample(Arrays.stream(features).boxed().toList(), score);
        }

        private double[] point() {
            return features.stream().mapToDouble(Double::doubleValue).toArray();
        }
    }

    private final SearchSpace space;
    private final Visited visited;
    private final Novelty novelty;
    private final SplittableRandom random;
    private final Annealing annealing;
    private final Optional<BoostedTrees> transferred;
    private final int planSize;
    private final Deque<Integer> planned = new ArrayDeque<>();
    private final List<Sample> samples = new ArrayList<>();

    /**
     * @param transfer measurements of other shapes; fewer than 16 are not used
     */
    public BoostedTuner(SearchSpace space, long seed, List<Sample> transfer) {
        this.space = space;
        this.visited = new Visited(space.size());
        this.novelty = new Novelty(space);
        this.random = new SplittableRandom(seed);
        this.annealing = new Annealing(space, random.split());
        this.planSize = Math.max(LEAST_PLANNED, Math.min(MOST_PLANNED, space.size() / POINTS_OF_A_PLANNED));
        this.transferred = transfer.size() < LEAST_TRANSFERRED
                ? Optional.empty()
                : Optional.of(BoostedTrees.fit(
                        transfer.stream().map(Sample::point).toArray(double[][]::new),
                        transfer.stream().mapToDouble(Sample::score).toArray()));
    }

    @Override
    public List<Integer> next(int most) {
        List<Integer> next = new ArrayList<>();
        while (next.size() < Math.min(most, planSize) && visited.left() > 0) {
            if (planned.isEmpty()) {
                plan();
            }
            int point =
                    planned.isEmpty() || random.nextDouble() < RANDOM_SHARE ? visited.random(random) : planned.poll();
            if (visited.add(point)) {
                next.add(point);
            }
        }
        planned.clear();
        return next;
    }

    @Override
    public void update(int point, double score) {
        visited.add(point);
        novelty.add(point);
        samples.add(Sample.of(space.features(point), score));
    }

    private void plan() {
        double[] base = samples.stream().mapToDouble(s -> prior(s.point())).toArray();
        boolean learnt = samples.size() >= LEAST_PLANNED;
        if (!learnt && transferred.isEmpty()) {
            return;
        }
        Optional<BoostedTrees> own = learnt ? Optional.of(fit(base)) : Optional.empty();
        double weight = transferred.isPresent() ? WEIGHT_OF_NOVELTY * (1 - discount()) : WEIGHT_OF_NOVELTY;
        List<Integer> points = space.size() > PREDICTED_WHOLE
                ? annealing.best(point -> predict(own, point) + weight * novelty.of(point), CHOICE * planSize, visited)
                : visited.others();
        double[] predicted =
                points.stream().mapToDouble(point -> predict(own, point)).toArray();
        pick(points, predicted, weight);
    }

    /** Picks points for the plan one after another; the pairs of a picked point are no longer new for the next. */
    private void pick(List<Integer> points, double[] predicted, double weight) {
        Novelty known = novelty.copy();
        BitSet picked = new BitSet();
        for (int count = 0; count < Math.min(planSize, predicted.length); count++) {
            int best = -1;
            double most = Double.NEGATIVE_INFINITY;
            for (int i = picked.nextClearBit(0); i < predicted.length; i = picked.nextClearBit(i + 1)) {
                double value = predicted[i] + weight * known.of(points.get(i));
                if (value > most) {
                    most = value;
                    best = i;
                }
            }
            picked.set(best);
            known.add(points.get(best));
            planned.add(points.get(best));
        }
    }

    /** Fits trees to what the model of other shapes does not explain of the scores; the best measurement so far has the score 1. */
    private BoostedTrees fit(double[] base) {
        double best = samples.stream().mapToDouble(Sample::score).max().orElse(1);
        double[] y = new double[samples.size()];
        for (int i = 0; i < y.length; i++) {
            y[i] = (best > 0 ? samples.get(i).score / best : 0) - base[i];
        }
        return BoostedTrees.fit(samples.stream().map(Sample::point).toArray(double[][]::new), y);
    }

    private double predict(Optional<BoostedTrees> own, int point) {
        double[] features = space.features(point);
        return own.map(model -> model.predict(features)).orElse(0.0) + prior(features);
    }

    /** The weight of the model of other shapes in predictions. */
    private double discount() {
        return Math.pow(2, -(double) samples.size() / planSize);
    }

    private double prior(double[] features) {
        double discount = discount();
        return discount < LEAST_DISCOUNT
                ? 0
                : transferred.map(model -> discount * model.predict(features)).orElse(0.0);
    }

    /**
     * AutoTVM's simulated annealing: 128 walkers, which are kept from call to call, change one knob in each of 500 steps at most; the temperature
     * falls from 1 to 0.
     */
    static final class Annealing {
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

    /**
     * How new a point is: the share of its pairs of knob values that no measured point has. Trees know nothing of such pairs; they predict for them what
     * their neighbours cost.
     */
    static final class Novelty {
        private final SearchSpace space;
        private final int[] offsets;
        private final int range;
        private final BitSet seen;

        Novelty(SearchSpace space) {
            this(space, new BitSet());
        }

        private Novelty(SearchSpace space, BitSet seen) {
            this.space = space;
            this.seen = seen;
            this.offsets = new int[space.dimensions().size()];
            int sum = 0;
            for (int knob = 0; knob < offsets.length; knob++) {
                offsets[knob] = sum;
                sum += space.dimensions().get(knob);
            }
            this.range = sum;
        }

        /** A copy, to which points can be added on trial. */
        Novelty copy() {
            return new Novelty(space, (BitSet) seen.clone());
        }

        /** How new a point is: 0 if all of its pairs are known, 1 if none is. */
        double of(int point) {
            List<Integer> values = space.point(point);
            int unknown = 0;
            int all = 0;
            for (int knob = 1; knob < values.size(); knob++) {
                for (int other = 0; other < knob; other++) {
                    all++;
                    unknown += seen.get(pair(values, knob, other)) ? 0 : 1;
                }
            }
            return all == 0 ? 0 : (double) unknown / all;
        }

        /** Makes the pairs of a point known. */
        void add(int point) {
            List<Integer> values = space.point(point);
            for (int knob = 1; knob < values.size(); knob++) {
                for (int other = 0; other < knob; other++) {
                    seen.set(pair(values, knob, other));
                }
            }
        }

        private int pair(List<Integer> values, int knob, int other) {
            return (offsets[knob] + values.get(knob)) * range + offsets[other] + values.get(other);
        }
    }
}
