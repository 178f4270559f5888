// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.Locale;

/** What a build favours, from the choice of schedules to the flags of the C compiler: {@code kiln.optimize}. */
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
