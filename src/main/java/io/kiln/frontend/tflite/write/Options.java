// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.flatbuffer.Field;
import io.kiln.frontend.tflite.schema.OptionsType;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The options table of an operator.
 *
 * @param type which table of the schema
 * @param values its fields: Integer, Boolean or Float, as the field's type says
 */
record Options(OptionsType type, Map<Field, Object> values) {
    /** No options. */
    static final Options NONE = new Options(OptionsType.NONE, Map.of());

    static Options of(OptionsType type) {
        return new Options(type, Map.of());
    }

    /** The same with a field. */
    Options with(Field field, Object value) {
        Map<Field, Object> more = new LinkedHashMap<>(values);
        more.put(field, value);
        return new Options(type, more);
    }
}
