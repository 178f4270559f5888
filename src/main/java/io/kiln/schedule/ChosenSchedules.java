// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Choice;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Caches the computations of a function's layers and the schedules chosen for them. A layer is lowered several times (whole, by rows,
 * and in the rings of its plan), and proving that its rescaling is exact takes longer than all of these lowerings. A choice depends on
 * the rows only by whether they are all rows of the layer, one after another in memory.
 */
final class ChosenSchedules {
    private final IdentityHashMap<FusedOperator, ConvComputation> computations = new IdentityHashMap<>();
    private final IdentityHashMap<FusedOperator, Choice<?>> whole = new IdentityHashMap<>();
    private final IdentityHashMap<FusedOperator, Choice<?>> byRows = new IdentityHashMap<>();

    /** The computation of an operator, with its proofs. */
    synchronized ConvComputation computation(FusedOperator op) {
        return computations.computeIfAbsent(op, ConvComputation::of);
    }

    /** The choice for an operator, which is made when it is first asked for. */
    synchronized Choice<?> of(FusedOperator op, Rows rows, Supplier<Choice<?>> choice) {
        boolean isWhole = rows.areContiguous() && rows.parameters().isEmpty();
        Map<FusedOperator, Choice<?>> known = isWhole ? whole : byRows;
        Choice<?> found = known.get(op);
        if (found == null) {
            found = choice.get();
            known.put(op, found);
        }
        return found;
    }
}
