// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

/**
 * Assembly that sums the products of neighbouring inputs for {@link CrossedProducts}, with Arm's DSP instructions.
 *
 * @param inputs number of inputs, at least four
 */
public record InputProducts(int inputs) {
    /** Steps of four inputs in the loop. */
    private static final int STEPS = 4;

    /**
     * Sums in r12 the products of inputs 0 and 1, 2 and 3, and so on; inputs begin at r0, and r4 is the end of those that are whole steps of four.
     * Changes r0 and r5 to r11, and uses the label 3.
     */
    public void sum(AsmText asm) {
        int loops = inputs / 4 / STEPS;
        int first = inputs / 4 % STEPS;
        asm.line("mov r12, #0");
        steps(asm, first);
        if (loops > 0) {
            if (first > 0) {
                asm.line("add r0, #%d", 4 * first);
            }
            asm.line("3:");
            steps(asm, STEPS);
            asm.line("add r0, #%d", 4 * STEPS);
            asm.line("cmp r0, r4");
            asm.line("bne 3b");
        }
        if (inputs % 4 > 0) {
            loadRest(asm, "r5", loops > 0 ? 0 : 4 * first);
            step(asm, "r5");
        }
    }

    /** Loads the last inputs, fewer than four, and zeroes behind them; the end of the others is so many bytes behind r0. */
    public void loadRest(AsmText asm, String register, int end) {
        int rest = inputs % 4;
        asm.line("ldr %s, [r0, #%d]", register, end + rest - 4);
        asm.line("lsr %s, #%d", register, 8 * (4 - rest));
    }

    /** All loads first: those behind a load take one cycle less. */
    private static void steps(AsmText asm, int steps) {
        for (int i = 0; i < steps; i++) {
            asm.line("ldr r%d, [r0, #%d]", 5 + i, 4 * i);
        }
        for (int i = 0; i < steps; i++) {
            step(asm, "r" + (5 + i));
        }
    }

    private static void step(AsmText asm, String four) {
        asm.line("sxtb16 r10, %s", four);
        asm.line("sxtb16 r11, %s, ror #8", four);
        asm.line("smlad r12, r10, r11, r12");
    }
}
