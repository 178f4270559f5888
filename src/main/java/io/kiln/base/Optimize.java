// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.List;
import java.util.Locale;

/** What a build favours, from the choice of schedules to the flags of the C compiler: {@code kiln.optimize}. */
public enum Optimize {
    SPEED,
    SIZE,
    RAM;

    /**
     * Reads the parameter's value.
     *
     * @throws KilnException with the values that there are
     */
    public static Optimize of(String text) {
        return Choice.of("kiln.optimize", text, List.of(values()), Optimize::text);
    }

    /** The parameter's value. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
