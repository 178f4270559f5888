// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import java.util.stream.Collectors;

/** Common to the texts of all kernels for MVE (Helium, Cortex-M55 and later). */
public final class MveText {
    private MveText() {}

    /** Instructions as the strings of an asm statement, one to a line. */
    public static String lines(String instructions) {
        return instructions
                .lines()
                .map(line -> "        \"" + line + "\\n\\t\"\n")
                .collect(Collectors.joining());
    }
}
