// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ParameterValue;

/** Where candidates are measured, the value of {@code kiln.tune.on}. */
public enum TuneOn {
    /** An emulator, which counts instructions. */
    EMULATOR,
    /** The board itself, which measures time. */
    BOARD;

    /**
     * Reads the parameter's value.
     *
     * @throws io.kiln.base.KilnException for any other value, with the list of values
     */
    public static TuneOn of(String text) {
        return ParameterValue.of("kiln.tune.on", TuneOn.class, text);
    }
}
