// SPDX-License-Identifier: Apache-2.0
package io.kiln.operators;

import io.kiln.target.TestTargets;
import java.util.Optional;
import java.util.stream.Stream;

/** A place that knows operators. */
enum Place {
    INTERPRETER("interpreter"),
    C("C"),
    RELAY_READER("Relay reader"),
    RELAY_WRITER("Relay writer"),
    TFLITE_READER("TFLite reader"),
    TFLITE_WRITER("TFLite writer"),
    ONNX_READER("ONNX reader"),
    LAYOUT("layout"),
    QUANTIZER("quantizer"),
    M0("M0", TestTargets.M0),
    M3("M3", TestTargets.M3),
    M4("M4", TestTargets.M4),
    M55("M55", TestTargets.M55),
    RV32("RV32", TestTargets.RV32);

    private final String text;
    private final String core;

    Place(String text) {
        this(text, "");
    }

    Place(String text, String core) {
        this.text = text;
        this.core = core;
    }

    String text() {
        return text;
    }

    /** The target, if the place is the kernels written for a core. */
    Optional<String> core() {
        return Optional.of(core).filter(target -> !target.isEmpty());
    }

    static Place of(String text) {
        return Stream.of(values())
                .filter(place -> place.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no place `" + text + "`"));
    }
}
