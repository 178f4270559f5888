// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ParameterValue;

/** Where an image is verified, the value of {@code kiln.verify.on}. */
public enum VerifyOn {
    /** In an emulator, or on this computer for the board {@code host}. */
    EMULATOR,
    /** On the board itself. */
    BOARD,
    /** Nowhere. */
    NONE;

    /**
     * Reads the parameter's value.
     *
     * @throws io.kiln.base.KilnException for any other value, with the list of values
     */
    public static VerifyOn of(String text) {
        return ParameterValue.of("kiln.verify.on", VerifyOn.class, text);
    }
}
