// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import java.util.List;

/** Steps of a rescaling on RV32IM. A core in order waits for a product if the next instruction needs it, so that those of other sums are first. */
public final class RiscVRescale {
    private RiscVRescale() {}

    /**
     * Turns a power of two on the stack into the number of its zeros; t0 and t1 change.
     *
     * @param offset from the stack pointer
     * @param label a local label that is free
     */
    public static void log2(AsmText asm, int offset, int label) {
        asm.line("lw t0, %d(sp)", offset);
        asm.line("li t1, -1");
        asm.line("%d:", label);
        asm.line("addi t1, t1, 1");
        asm.line("srli t0, t0, 1");
        asm.line("bnez t0, %db", label);
        asm.line("sw t1, %d(sp)", offset);
    }

    /** Upper words of the products of scaled sums and a multiplier, plus an offset, in place; all in registers. */
    public static void highWords(AsmText asm, List<String> sums, String multiplier, String offset) {
        sums.forEach(sum -> asm.line("mulh %s, %s, %s", sum, sum, multiplier));
        sums.forEach(sum -> asm.line("add %s, %s, %s", sum, sum, offset));
    }
}
