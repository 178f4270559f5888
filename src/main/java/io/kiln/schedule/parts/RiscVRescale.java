// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import java.util.List;

/** Steps of a rescaling on RV32IM. A core in order waits for a product if the next instruction needs it, so that those of other sums are first. */
public final class RiscVRescale {
    private RiscVRescale() {}

    /** Upper words of the products of scaled sums and a multiplier, plus an offset, in place; all in registers. */
    public static void highWords(AsmText asm, List<String> sums, String multiplier, String offset) {
        sums.forEach(sum -> asm.line("mulh %s, %s, %s", sum, sum, multiplier));
        sums.forEach(sum -> asm.line("add %s, %s, %s", sum, sum, offset));
    }
}
