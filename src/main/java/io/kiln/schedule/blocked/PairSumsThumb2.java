// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;

/**
 * {@link SumsKernel} for Armv7-M with {@link WeightPairs}: one pixel and eight channels. A step is 7 instructions for 8 products: LDRSB, 2 LDM,
 * 4 SMLAL. The taps left over by steps of four are summed before the loop.
 *
 * <pre>
 * r0       inputs        r4 to r11  sums of two channels in 64 bits each
 * r1       weights       r2         the input of a step
 * r3       their end     r12 lr     weights
 * stack    sums, callee-saved registers, taps
 * </pre>
 */
final class PairSumsThumb2 {
    static final int CHANNELS = 8;
    private static final int UNROLL = 4;
    private static final int FIRST_SUM = 4;

    /** Stack offset of the last argument, above the pushed registers. */
    private static final int TAPS = 40;

    private PairSumsThumb2() {}

    static String lines(WeightPairs pairs) {
        AsmText asm = new AsmText();
        asm.line("push {r2, r4-r11, lr}");
        asm.line("ldr r3, [sp, #%d]", TAPS);
        asm.line("add r3, r0");
        for (int i = 0; i < CHANNELS; i++) {
            asm.line("mov r%d, #0", FIRST_SUM + i);
        }
        asm.line("1:");
        asm.line("subs r2, r3, r0");
        asm.line("beq 4f");
        asm.line("ands r2, #%d", UNROLL - 1);
        asm.line("beq 3f");
        step(asm);
        asm.line("b 1b");
        asm.line("3:");
        asm.repeat(UNROLL, () -> step(asm));
        asm.line("cmp r0, r3");
        asm.line("bne 3b");
        asm.line("4:");
        for (int i = 0; i < CHANNELS; i += 2) {
            takeApart(asm, pairs, FIRST_SUM + i, FIRST_SUM + i + 1);
        }
        asm.line("pop {r2}");
        asm.line("stmia r2, {r4-r11}");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private static void step(AsmText asm) {
        asm.line("ldrsb r2, [r0], #1");
        for (int i = 0; i < CHANNELS; i += 4) {
            asm.line("ldm r1!, {r12, lr}");
            asm.line("smlal r%d, r%d, r2, r12", FIRST_SUM + i, FIRST_SUM + i + 1);
            asm.line("smlal r%d, r%d, r2, lr", FIRST_SUM + i + 2, FIRST_SUM + i + 3);
        }
    }

    /** Leaves the sum of the first weights in the lower register of a sum of 64 bits and that of the second ones in the upper; r3 changes. */
    static void takeApart(AsmText asm, WeightPairs pairs, int lower, int upper) {
        asm.line("lsr r3, r%d, #%d", lower, pairs.bits());
        asm.line("sbfx r%d, r%d, #0, #%d", lower, lower, pairs.bits());
        asm.line("orr r%d, r3, r%d, lsl #%d", upper, upper, Integer.SIZE - pairs.bits());
        asm.line("sub r%d, r%d, r%d, asr #31", upper, upper, lower);
    }
}
