// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.ScalarRescale;

/**
 * {@link BlockedThumb} for one number of taps, with as many instructions in fewer cycles: on a Cortex-M3, a load right behind a load takes one
 * cycle in place of two, if the first one does not change its address. The second pixel's inputs are at a fixed distance from the first one's, so
 * that a register is left for a second weight. A step of 14 instructions takes 24 cycles in place of 28.
 *
 * <pre>
 * r0       inputs of the first pixel      r4 to r7   sums of channel 0, both pixels, and channel 1
 * r2       the byte before the weights    r8 to r11  sums of channels 2 and 3
 * r3 r12   the inputs of a step           lr r1      two weights
 * stack    as in {@link BlockedThumb}
 * </pre>
 *
 * @param taps taps of a window, at most {@link #MOST_TAPS}
 */
record BlockedThumbInterleaved(int taps) implements BlockedAssembly {
    /** The second pixel's inputs are within reach of a load. */
    static final int MOST_TAPS = AsmText.LOAD_REACH;

    private static final int UNROLL = 8;

    @Override
    public String condition() {
        return AsmText.THUMB_2;
    }

    @Override
    public String lines(ScalarRescale rescale) {
        RescaleCorrection correction = rescale.correction();
        boolean limited = rescale.isLimited();
        AsmText asm = new AsmText();
        asm.line("push {r0-r11, lr}");
        asm.line("sub r2, r1, #1");
        asm.line("ldr r4, [sp, #%d]", BlockedThumb.TAPS);
        asm.line("add r4, r0");
        asm.line("str r4, [sp, #%d]", BlockedThumb.TAPS);
        asm.line("1:");
        step(asm, true);
        int before = (taps - 1) % UNROLL;
        if (taps <= UNROLL) {
            asm.repeat(before, () -> step(asm, false));
        } else {
            asm.line("b 3f");
            asm.line("2:");
            asm.repeat(UNROLL - before, () -> step(asm, false));
            asm.line("3:");
            asm.repeat(before, () -> step(asm, false));
            asm.line("ldr r3, [sp, #%d]", BlockedThumb.TAPS);
            asm.line("cmp r0, r3");
            asm.line("bne 2b");
        }
        BlockedThumb.finish(asm, correction, limited, "ldr r0, [sp]");
        return asm.lines();
    }

    private void step(AsmText asm, boolean first) {
        asm.line("ldrsb r12, [r0, #%d]", taps);
        asm.line("ldrsb lr, [r2, #1]");
        asm.line("ldrsb r1, [r2, #2]");
        asm.line("ldrsb r3, [r0], #1");
        products(asm, 0, first);
        asm.line("ldrsb lr, [r2, #3]");
        asm.line("ldrsb r1, [r2, #4]!");
        products(asm, 2, first);
    }

    /** Multiplies the inputs by the weights of a channel and of the next one. */
    private static void products(AsmText asm, int channel, boolean first) {
        for (int c = channel; c < channel + 2; c++) {
            String weight = c == channel ? "lr" : "r1";
            for (int p = 1; p >= 0; p--) {
                int sum = BlockedThumb.sum(c, p);
                String input = p == 0 ? "r3" : "r12";
                if (first) {
                    asm.line("mul r%d, %s, %s", sum, input, weight);
                } else {
                    asm.line("mla r%d, %s, %s, r%d", sum, input, weight, sum);
                }
            }
        }
    }
}
