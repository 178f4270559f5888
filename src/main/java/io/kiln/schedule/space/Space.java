// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The configurations of a schedule for a layer: all combinations of its knobs' values that satisfy a condition.
 *
 * @param schedule name of the schedule
 * @param knobs knobs in the order of a configuration's text
 * @param condition whether a combination is legal
 */
public record Space(String schedule, List<Knob> knobs, Predicate<Configuration> condition) {
    public Space {
        knobs = List.copyOf(knobs);
    }

    /**
     * A flag of several schedules, for cores with a cache of instructions: loops are entered in their middle, registers are those that short
     * instructions can name, and parts that may be loops are.
     */
    public static final String SHORT = "short_code";

    /** A knob of several schedules, for cores that wait for flash: groups of pixels for which a block of weights is read once. */
    public static final String TILE = "tile";

    /** A space in which all combinations are legal. */
    public static Space of(String schedule, Knob... knobs) {
        return new Space(schedule, List.of(knobs), configuration -> true);
    }

    /** The combinations that also satisfy another condition. */
    public Space where(Predicate<Configuration> more) {
        return new Space(schedule, knobs, condition.and(more));
    }

    /** All configurations, the last knob changing fastest. */
    public List<Configuration> configurations() {
        List<Configuration> all = List.of(Configuration.of(schedule));
        for (Knob knob : knobs) {
            List<Configuration> more = new ArrayList<>();
            for (Configuration start : all) {
                knob.values()
                        .forEach(value -> more.add(
                                value.map(v -> start.with(knob.name(), v)).orElse(start)));
            }
            all = more;
        }
        return all.stream().filter(condition).toList();
    }
}
