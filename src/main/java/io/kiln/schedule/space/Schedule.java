// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.Optional;

/**
 * One way to compute convolutions and dense layers. Whether it can, in which configurations it can, and the loops of one of them are three
 * questions: {@link #applies} and {@link #space} decide and build nothing, only {@link #lower} makes tables and asks for scratch. Which
 * configuration is taken is no matter of the schedule, but of a {@link Rule} or of whoever overrides it.
 *
 * @param <E> what shows that it applies, such as the constants of a rescaling that were proven to be exact
 */
public interface Schedule<E> {
    /** Its name in configurations. */
    String name();

    /** What shows that its loops compute a layer exactly on the layer's core; nothing where they do not. */
    Optional<E> applies(Workload workload);

    /** The configurations that compute a layer to which it applies. */
    Space space(Workload workload, E evidence);

    /** The loops of a configuration out of the {@link #space}. */
    LayerLoops lower(ConvTask task, E evidence, Configuration configuration);
}
