// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.Locale;

/** What the compiler and the C compiler favour: {@code kiln.optimize}. */
public enum Optimize {
    SPEED,
    SIZE,
    RAM;

    /** Reads the parameter's value. */
    public static Optimize of(String text) {
        for (Optimize value : values()) {
            if (value.text().equals(text)) {
                return value;
            }
        }
        throw new KilnException(new Problem(
                "unknown value `" + text + "`", "kiln.optimize", "speed, size or ram", "Correct the parameter"));
    }

    /** The parameter's value. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
