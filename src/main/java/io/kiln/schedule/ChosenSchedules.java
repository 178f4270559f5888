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
 * The computations of a function's layers and the choices for them. A layer is lowered whole, by rows and in the rings of its plan, and the proof that a
 * rescaling is exact takes longer than all of these: a choice depends on rows only by whether they are all of them, one after
 * another.
 */
final class ChosenSchedules {
    private final IdentityHashMap<FusedOperator, ConvComputation> computations = new IdentityHashMap<>();
    private final IdentityHashMap<FusedOperator, Choice<?>> whole = new IdentityHashMap<>();
    private final IdentityHashMap<FusedOperator, Choice<?>> byRows = new IdentityHashMap<>();

    /** The computation of an operator, with what is proven of it. */
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
