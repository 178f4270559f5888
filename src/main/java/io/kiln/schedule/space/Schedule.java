// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.Optional;

/**
 * One way to compute convolutions and dense layers. Whether it applies, its possible configurations, and the loops of
 * one of them are three separate methods: {@link #applies} and {@link #space} decide and build nothing, only {@link
 * #lower} makes tables and reserves scratch. A rule, or whoever overrides it, chooses the configuration.
 *
 * @param <E> evidence that it applies, such as the constants of a rescaling that are proven exact
 */
public interface Schedule<E> {
    /** Its name in configurations. */
    String name();

    /** Evidence that its loops compute a layer exactly on the layer's core; empty if they do not. */
    Optional<E> applies(Workload workload);

    /** The configurations for a layer to which it applies: one without knobs unless it says more. */
    default Space space(Workload workload, E evidence) {
        return Space.of(name());
    }

    /**
     * About how many cycles the ends of loops cost with a configuration, by which those are compared whose code is short enough; the later of equal
     * ones is taken.
     */
    default long loopEnds(Workload workload, E evidence, Configuration configuration) {
        return 0;
    }

    /** The loops of a configuration in the {@link #space}. */
    LayerLoops lower(ConvTask task, E evidence, Configuration configuration);
}
