// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Proposes points at random, none twice. */
public final class RandomTuner implements Tuner {
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
