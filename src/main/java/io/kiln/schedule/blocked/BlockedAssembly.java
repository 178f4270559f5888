// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.ScalarRescale;
import java.util.Optional;

/** {@link BlockedKernel} entirely in assembly, for one core. */
interface BlockedAssembly {
    /** Preprocessor condition under which it can be used. */
    String condition();

    /** How two weights share a word; empty if each has a byte, or half of one. */
    default Optional<WeightPairs> weightPairs() {
        return Optional.empty();
    }

    /** Whether the kernel takes the number of bits by which sums are shifted, in place of the power of two that scales them. */
    default boolean shiftsSums() {
        return false;
    }

    /** Part of the kernel's name if the assembly depends on more of the rescaling than its correction and limits. */
    default String suffix(ScalarRescale rescale) {
        return "";
    }

    /** The lines of a naked function with the kernel's parameters. */
    String lines(ScalarRescale rescale);
}
