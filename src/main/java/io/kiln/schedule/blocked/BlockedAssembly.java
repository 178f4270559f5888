// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.RescaleCorrection;

/** {@link BlockedKernel} entirely in assembly, for one core. */
interface BlockedAssembly {
    /** Preprocessor condition under which it can be used. */
    String condition();

    /** The lines of a naked function with the kernel's parameters. */
    String lines(RescaleCorrection correction, boolean limited);
}
