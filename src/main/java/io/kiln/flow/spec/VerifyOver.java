// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ParameterValue;

/** The protocol by which a verified image is addressed, the value of {@code kiln.verify.over}. */
public enum VerifyOver {
    /** The protocol of the default application. */
    CONSOLE,
    /** microTVM's RPC, for an image with its server. */
    RPC;

    /**
     * Reads the parameter's value.
     *
     * @throws io.kiln.base.KilnException for any other value, with the list of values
     */
    public static VerifyOver of(String text) {
        return ParameterValue.of("kiln.verify.over", VerifyOver.class, text);
    }
}
