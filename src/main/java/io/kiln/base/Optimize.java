// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

/** The optimization goal of a build, from the choice of schedules to the flags of the C compiler: {@code kiln.optimize}. */
public enum Optimize {
    SPEED,
    SIZE,
    RAM;

    /**
     * Reads the parameter's value.
     *
     * @throws KilnException for any other value, with the list of values
     */
    public static Optimize of(String text) {
        return ParameterValue.of("kiln.optimize", Optimize.class, text);
    }

    /** The parameter's value. */
    public String text() {
        return ParameterValue.text(this);
    }
}
