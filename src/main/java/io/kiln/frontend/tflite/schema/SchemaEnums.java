// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import java.util.List;
import java.util.Optional;

/** Finds constants of enums that are declared in the order of their codes in the schema. */
final class SchemaEnums {
    private SchemaEnums() {}

    /** The constant of a code; empty if there is none. */
    static <T> Optional<T> at(T[] values, int code) {
        return code >= 0 && code < values.length ? Optional.of(values[code]) : Optional.empty();
    }

    /** The code of a constant. */
    static <T> int code(T[] values, T constant) {
        return List.of(values).indexOf(constant);
    }
}
