// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import java.util.Arrays;
import java.util.Optional;

/** How a measurement ended: AutoTVM's error numbers. */
public enum MeasureError {
    NONE("measured"),
    INSTANTIATION("the configuration cannot be lowered"),
    COMPILE_HOST("it does not compile"),
    COMPILE_DEVICE("the device could not load it"),
    RUNTIME_DEVICE("it failed on the device"),
    WRONG_ANSWER("wrong answer"),
    BUILD_TIMEOUT("building it took too long"),
    RUN_TIMEOUT("running it took too long"),
    UNKNOWN("unknown error");

    private final String text;

    MeasureError(String text) {
        this.text = text;
    }

    /** The number in records. */
    public int number() {
        return ordinal();
    }

    /** For people. */
    public String text() {
        return text;
    }

    /** The error of a number. */
    public static Optional<MeasureError> of(long number) {
        return Arrays.stream(values()).filter(e -> e.number() == number).findFirst();
    }
}
