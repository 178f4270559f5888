// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.Locale;
import java.util.stream.Stream;

/** Whose arithmetic the operators of a TensorFlow Lite model have where the two libraries answer differently. */
public enum TfliteRounding {
    /** TensorFlow Lite Micro's reference kernels. Layers with float data and int8 weights compute with floats. */
    MICRO,
    /**
     * TensorFlow Lite's reference kernels ({@code BuiltinRefOpResolver}). Layers with float data and int8 weights quantize their data at run
     * time.
     */
    LITE;

    /** The property that chooses. */
    public static final String PROPERTY = "kiln.tflite.rounding";

    /** The value of {@link #PROPERTY}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The other of the two. */
    public TfliteRounding other() {
        return this == MICRO ? LITE : MICRO;
    }

    /**
     * The rounding of a name.
     *
     * @throws KilnException if there is none
     */
    public static TfliteRounding parse(String text) {
        return Stream.of(values())
                .filter(rounding -> rounding.text().equals(text))
                .findFirst()
                .orElseThrow(() -> Failure.CONFIG.exception(PROPERTY + " is '" + text + "'", "", "micro or lite"));
    }
}
