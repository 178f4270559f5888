// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.Optional;

/**
 * The configuration for a layer, and the reason.
 *
 * @param <E> see {@link Schedule}
 * @param schedule a schedule that applies to the layer
 * @param evidence evidence that it applies
 * @param configuration a configuration in the schedule's space
 * @param reason the reason, for people
 */
public record Choice<E>(Schedule<E> schedule, E evidence, Configuration configuration, String reason) {

    /** The choice of a given configuration, if it can compute a layer: from a measurement rather than a rule. */
    public static <E> Optional<Choice<E>> of(
            Schedule<E> schedule, Workload workload, Configuration configuration, String reason) {
        return schedule.applies(workload)
                .filter(evidence ->
                        schedule.space(workload, evidence).configurations().contains(configuration))
                .map(evidence -> new Choice<>(schedule, evidence, configuration, reason));
    }

    /** The same in another configuration of the schedule. */
    public Choice<E> with(Configuration other) {
        return new Choice<>(schedule, evidence, other, reason);
    }

    public LayerLoops lower(ConvTask task) {
        return schedule.lower(task, evidence, configuration);
    }
}
