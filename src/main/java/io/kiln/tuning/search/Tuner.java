// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

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
}
