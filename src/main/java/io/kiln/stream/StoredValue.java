// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.type.TensorType;
import io.kiln.lower.Rows;

/**
 * A value with memory of its own; its reshapes share the memory.
 *
 * @param id of the value, or a negative number for an output that is a copy
 * @param type its type when first computed
 * @param ring number of rows in its memory, a ring; 0 if it holds all
 * @param place who provides its memory
 * @param index index among the inputs or outputs; -1 for intermediate values
 * @param firstStep index of the operator that writes it, copies after the operators; -1 for inputs
 * @param lastStep index of the operator that reads it last
 */
public record StoredValue(int id, TensorType type, int ring, Place place, int index, int firstStep, int lastStep) {
    /** Who provides the memory. */
    public enum Place {
        INPUT,
        OUTPUT,
        WORKSPACE,
        /** Its own static memory, which is kept between runs. */
        STATE
    }

    /** Number of elements in its memory. */
    public long elements() {
        long all = type.shape().elements();
        return ring == 0 ? all : all / Rows.count(type.shape()) * ring;
    }
}
