// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import java.util.Optional;

/** Padding of windows, by its code in the schema. */
public enum Padding {
    /** As many windows as elements, divided by the stride. */
    SAME,
    /** Only windows that lie inside the data. */
    VALID;

    /** Its code in a file. */
    public int code() {
        return SchemaEnums.code(values(), this);
    }

    /** The padding of a code; empty if there is none. */
    public static Optional<Padding> of(int code) {
        return SchemaEnums.at(values(), code);
    }
}
