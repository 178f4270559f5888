// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.type.TensorType;

/**
 * A value that needs memory of its own; reshapes share it.
 *
 * @param id of the value, or a negative number for an output that is a copy
 * @param type as it was first computed
 * @param place who provides its memory
 * @param index among the inputs or outputs; -1 for values in between
 * @param firstStep step that writes it; -1 for inputs
 * @param lastStep step that reads it last
 */
public record StoredValue(int id, TensorType type, Place place, int index, int firstStep, int lastStep) {
    /** Who provides the memory. */
    public enum Place {
        INPUT,
        OUTPUT,
        WORKSPACE
    }
}
