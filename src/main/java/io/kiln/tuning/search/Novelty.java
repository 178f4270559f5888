// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.search;

import java.util.BitSet;
import java.util.List;

/**
 * How new a point is: the share of its pairs of knob values that no measured point has. Trees know nothing of such pairs; they predict for them what
 * their neighbours cost.
 */
final class Novelty {
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
