// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ParameterValue;

/** Where an inference is measured, the value of {@code kiln.profile.on}. */
public enum ProfileOn {
    /** An emulator, which counts instructions. */
    EMULATOR,
    /** The board itself, which measures time. */
    BOARD;

    /**
     * Reads the parameter's value.
     *
     * @throws io.kiln.base.KilnException for any other value, with the list of values
     */
    public static ProfileOn of(String text) {
        return ParameterValue.of("kiln.profile.on", ProfileOn.class, text);
    }
}
