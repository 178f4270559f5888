// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;

/** The application of an image whose project has no {@code main} of its own: {@code kiln.application}. */
public enum Application {
    /** The default application: a host runs whole models over the console. */
    CONSOLE,

    /** microTVM's RPC server on the console: a host calls single functions. For the bench. */
    RPC,

    /** The serial protocol of the benchmark MLPerf Tiny on the console: a runner measures one model. */
    MLPERF_TINY;

    /**
     * Reads the parameter's value.
     *
     * @throws KilnException for any other value, with the list of values
     */
    public static Application of(String text) {
        return ParameterValue.of("kiln.application", Application.class, text);
    }

    /** The parameter's value. */
    public String text() {
        return ParameterValue.text(this);
    }
}
