// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.autotvm;

import io.kiln.tuning.record.TuningRecord.Config;
import io.kiln.tuning.record.TuningRecord.Entity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * AutoTVM's space of configurations: an index is a number in mixed radix whose first knob changes fastest.
 *
 *
 * @param knobs in their order
 * @param filter of whole configurations; others are holes
 */
public record ConfigSpace(List<KnobSpace> knobs, Predicate<List<Entity>> filter) {
    public ConfigSpace {
        knobs = List.copyOf(knobs);
    }

    /** A space without holes. */
    public ConfigSpace(List<KnobSpace> knobs) {
        this(knobs, entities -> true);
    }

    /** Number of values of each knob. */
    public List<Integer> dimensions() {
        return knobs.stream().map(knob -> knob.values().size()).toList();
    }

    /** Number of indices, holes included. */
    public long range() {
        return dimensions().stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
    }

    /** Number of configurations; looks at all of them if there is a filter. */
    public int length() {
        return (int) IntStream.range(0, Math.toIntExact(range()))
                .filter(index -> config(index).isPresent())
                .count();
    }

    /** The position of each knob's value. */
    public int[] point(long index) {
        int[] point = new int[knobs.size()];
        long rest = index;
        for (int i = 0; i < point.length; i++) {
            int dimension = knobs.get(i).values().size();
            point[i] = (int) (rest % dimension);
            rest /= dimension;
        }
        return point;
    }

    /** The configuration of an index; empty for a hole. */
    public Optional<Config> config(long index) {
        int[] point = point(index);
        List<Entity> entities = new ArrayList<>();
        for (int i = 0; i < point.length; i++) {
            entities.add(knobs.get(i).entity(point[i]));
        }
        return filter.test(entities) ? Optional.of(new Config(index, entities)) : Optional.empty();
    }
}
