// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.type.TensorType;
import io.kiln.lower.Rows;

/**
 * A value that needs memory of its own; reshapes share it.
 *
 * @param id of the value, or a negative number for an output that is a copy
 * @param type as it was first computed
 * @param ring rows that its memory holds, as a ring; 0 if it holds all
 * @param place who provides its memory
 * @param index among the inputs or outputs; -1 for values in between
 * @param firstStep operator that writes it, by index, copies behind the operators; -1 for inputs
 * @param lastStep operator that reads it last
 */
public record StoredValue(int id, TensorType type, int ring, Place place, int index, int firstStep, int lastStep) {
    /** Who provides the memory. */
    public enum Place {
        INPUT,
        OUTPUT,
        WORKSPACE,
        /** Static memory of its own, which lives from run to run. */
        STATE
    }

    /** Elements that its memory holds. */
    public long elements() {
        long all = type.shape().elements();
        return ring == 0 ? all : all / Rows.count(type.shape()) * ring;
    }
}
