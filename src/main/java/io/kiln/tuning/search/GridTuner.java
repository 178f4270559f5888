// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.List;

/** Proposes all points in their order. */
public final class GridTuner implements Tuner {
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
