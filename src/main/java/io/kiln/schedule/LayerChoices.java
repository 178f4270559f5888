// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.lower.FusedOperator;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Overrides the rules that choose schedules of layers, for example by what was measured. */
@FunctionalInterface
public interface LayerChoices {
    /** Leaves all layers to the rules. */
    LayerChoices RULES = (op, workload) -> Optional.empty();

    /**
     * The choice for a layer; empty to leave it to the rules.
     *
     * @param op the layer
     * @param workload the layer on its core, for all rows or for some of them
     */
    Optional<Choice<?>> choose(FusedOperator op, Workload workload);

    /** These choices, and others for the layers that they leave to the rules. */
    default LayerChoices or(LayerChoices others) {
        return (op, workload) -> choose(op, workload).or(() -> others.choose(op, workload));
    }
}
