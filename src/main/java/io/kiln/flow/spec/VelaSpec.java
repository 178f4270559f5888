// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.incremental.NoInput;
import java.util.Optional;

/**
 * How Vela, a program of the user's, compiles models for an NPU before Kiln compiles what it leaves.
 *
 * @param configuration the NPU, such as {@code ethos-u55-128}
 * @param program name or path of Vela
 * @param version the only version that may run; empty for any
 */
public record VelaSpec(
        String configuration,

        @NoInput(because = "its version and the file that it makes are inputs themselves")
        String program,

        @NoInput(because = "the version that ran is an input itself")
        Optional<String> version) {
    /** Its name on the PATH. */
    public static final String PROGRAM = "vela";
}
