// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import java.util.Locale;

/** What the compiler shall save: the value of {@code kiln.optimize}. */
public enum Optimize {
    SPEED,
    SIZE,
    RAM;

    /** The value of the parameter. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
