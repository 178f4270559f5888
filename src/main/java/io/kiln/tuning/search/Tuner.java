// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A search for the best point of a space. It proposes every point once at most. Equal seeds and equal scores give equal proposals. */
public interface Tuner {
    /** The next points to measure, up to a number; empty if all have been proposed. */
    List<Integer> next(int most);

    /**
     * Learns measurements, also of points that it has not proposed, such as those of earlier searches.
     *
     * @param score how good it is: larger is better, 0 for a failure
     */
    void update(int point, double score);

    /** Proposes all points in their order. */
    final class GridTuner implements Tuner {
        private final Visited visited;

        public GridTuner(SearchSpace space) {
            visited = new Visited(space.size());
        }

        @Override
        public List<Integer> next(int most) {
            List<Integer> next = visited.others().stream().limit(most).toList();
            next.forEach(visited::add);
            return next;
        }

        @Override
        public void update(int point, double score) {
            visited.add(point);
        }
    }

    /** Proposes points at random, none twice. */
    final class RandomTuner implements Tuner {
        private final Visited visited;
        private final SplittableRandom random;

        public RandomTuner(SearchSpace space, long seed) {
            visited = new Visited(space.size());
            random = new SplittableRandom(seed);
        }

        @Override
        public List<Integer> next(int most) {
            List<Integer> next = new ArrayList<>();
            while (next.size() < most && visited.left() > 0) {
                int point = visited.random(random);
                visited.add(point);
                next.add(point);
            }
            return next;
        }

        @Override
        public void update(int point, double score) {
            visited.add(point);
        }
    }

    /** The points of a space: vectors of knob values. Not all vectors are points. */
    public static final class SearchSpace {
        private final List<Integer> dimensions;
        private final List<List<Integer>> points;
        private final List<double[]> features;
        private final Map<List<Integer>, Integer> numbers = new HashMap<>();

        /**
         * @param dimensions number of values of each knob
         * @param points for each point the position of each knob's value
         * @param features for each point what a model sees of it; all of one length
         */
        public SearchSpace(List<Integer> dimensions, List<int[]> points, List<double[]> features) {
            this.dimensions = List.copyOf(dimensions);
            this.points = points.stream()
                    .map(point -> IntStream.of(point).boxed().collect(Collectors.toUnmodifiableList()))
                    .toList();
            this.features = features.stream().map(double[]::clone).toList();
            for (int i = 0; i < this.points.size(); i++) {
                numbers.put(this.points.get(i), i);
            }
        }

        /** Number of points. */
        public int size() {
            return points.size();
        }

        List<Integer> dimensions() {
            return dimensions;
        }

        List<Integer> point(int number) {
            return points.get(number);
        }

        double[] features(int number) {
            return features.get(number);
        }

        /** The index of the point with these knob values; empty if there is no such point. */
        Optional<Integer> find(List<Integer> vector) {
            return Optional.ofNullable(numbers.get(vector));
        }
    }

    /** The points of a space that were proposed or measured. */
    static final class Visited {
        private final int size;
        private final BitSet points = new BitSet();

        Visited(int size) {
            this.size = size;
        }

        boolean contains(int point) {
            return points.get(point);
        }

        /** Adds a point, and returns whether it is new. */
        boolean add(int point) {
            boolean isNew = !points.get(point);
            points.set(point);
            return isNew;
        }

        int left() {
            return size - points.cardinality();
        }

        /** The points that were not visited, in order. */
        List<Integer> others() {
            List<Integer> others = new ArrayList<>();
            for (int i = points.nextClearBit(0); i < size; i = points.nextClearBit(i + 1)) {
                others.add(i);
            }
            return others;
        }

        /** A random point that was not visited; there must be one. */
        int random(SplittableRandom random) {
            List<Integer> others = others();
            return others.get(random.nextInt(others.size()));
        }
    }
}
