// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import java.util.Arrays;
import java.util.Optional;

/** How a measurement ended: AutoTVM's error numbers. */
public enum MeasureError {
    NONE(0, "measured"),
    INSTANTIATION(1, "the configuration cannot be lowered"),
    COMPILE_HOST(2, "it does not compile"),
    COMPILE_DEVICE(3, "the device could not load it"),
    RUNTIME_DEVICE(4, "it failed on the device"),
    WRONG_ANSWER(5, "wrong answer"),
    BUILD_TIMEOUT(6, "building it took too long"),
    RUN_TIMEOUT(7, "running it took too long"),
    UNKNOWN(8, "unknown error");

    private final int number;
    private final String text;

    MeasureError(int number, String text) {
        this.number = number;
        this.text = text;
    }

    /** The number in records. */
    public int number() {
        return number;
    }

    /** The error in words. */
    public String text() {
        return text;
    }

    /** The error that has a number in records; empty for an unknown number. */
    public static Optional<MeasureError> of(long number) {
        return Arrays.stream(values()).filter(e -> e.number() == number).findFirst();
    }
}
