// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

/** The points of a space that were proposed or measured. */
final class Visited {
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
