// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operator;

import io.kiln.frontend.tflite.flatbuffer.FlexBuffer;
import io.kiln.frontend.tflite.tensor.PlaceFindings;
import java.util.Map;
import java.util.Optional;

/** The options of a custom operator by name; problems are reported, and a valid value replaces a wrong one. */
public final class CustomOptions {
    private static final String NEXT = "Export the model again";

    private final Map<String, Object> values;
    private final PlaceFindings findings;

    /**
     * @param values as returned by {@link FlexBuffer#read}
     */
    public CustomOptions(Map<String, Object> values, PlaceFindings findings) {
        this.values = values;
        this.findings = findings;
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    /** A whole number in a range. */
    public int integer(String name, int min, int max) {
        return required(name).map(value -> limited(name, value, min, max)).orElse(min);
    }

    public int integer(String name, int min, int max, int otherwise) {
        return has(name) ? integer(name, min, max) : otherwise;
    }

    /** True or false, or 1 or 0. */
    public boolean truth(String name) {
        return integer(name, 0, 1) == 1;
    }

    public boolean truth(String name, boolean otherwise) {
        return has(name) ? truth(name) : otherwise;
    }

    /** A finite number in single precision. */
    public float real(String name) {
        Optional<Object> value = required(name);
        float real = value.orElse(0L) instanceof Number number ? number.floatValue() : Float.NaN;
        if (!Float.isFinite(real)) {
            findings.add("its option " + name + " is " + values.get(name), "a finite number", NEXT);
            return 0;
        }
        return real;
    }

    public float real(String name, float otherwise) {
        return has(name) ? real(name) : otherwise;
    }

    private int limited(String name, Object value, int min, int max) {
        if (value instanceof Long number && number >= min && number <= max) {
            return (int) (long) number;
        }
        findings.add("its option " + name + " is " + value, "a whole number from " + min + " to " + max, NEXT);
        return min;
    }

    private Optional<Object> required(String name) {
        if (!has(name)) {
            findings.add("its option " + name + " is missing", "an option of that name", NEXT);
        }
        return Optional.ofNullable(values.get(name));
    }
}
