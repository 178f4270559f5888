// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.schedule.parts.AsmText;

/**
 * {@link PlainDotKernel} for Armv7-M, where a load right behind a load takes one cycle in place of two: the loads of both inputs and of two
 * weights follow each other. The taps left over by unrolled steps are summed before the loop.
 *
 * <pre>
 * r0  inputs of the first pixel      r2, r12  the inputs of a tap     r4 to r11  sums, by pixel, then by channel
 * r1  weights                        r3, lr   weights                 stack      end of the inputs, sums, callee-saved registers
 * </pre>
 *
 * @param pixels 1 or 2
 * @param channels at most 4
 * @param distance bytes from the first pixel's inputs to the second's
 * @param unroll steps in the loop, a power of two
 */
record DotThumb2(int pixels, int channels, int distance, int unroll) {
    /** Steps in the loop for speed. */
    static final int UNROLL = 8;

    /** Largest distance that immediate offsets reach. */
    static final int MOST_DISTANCE = AsmText.LOAD_REACH - Short.BYTES * UNROLL;

    private static final int FIRST_SUM = 4;

    /** Stack offset of the fifth argument, above the pushed registers. */
    private static final int TAPS = 40;

    String lines() {
        AsmText asm = new AsmText();
        enter(asm);
        asm.line("1:");
        asm.line("ldr r2, [sp]");
        asm.line("subs r2, r0");
        asm.line("beq 4f");
        asm.line("ands r2, #%d", Short.BYTES * (unroll - 1));
        asm.line("beq 3f");
        step(asm, 0);
        advance(asm, 1);
        asm.line("b 1b");
        asm.line("3:");
        for (int tap = 0; tap < unroll; tap++) {
            step(asm, tap);
        }
        asm.line("ldr r2, [sp]");
        advance(asm, unroll);
        asm.line("cmp r0, r2");
        asm.line("bne 3b");
        asm.line("4:");
        asm.line("pop {r2, r3}");
        asm.line("stmia r3, {r4-r%d}", lastSum());
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Arguments lie in r0 to r3, a fifth one on the stack. */
    private void enter(AsmText asm) {
        if (pixels == 2) {
            asm.line("push {r3-r11, lr}");
            asm.line("ldr r12, [sp, #%d]", TAPS);
            asm.line("mov r1, r2");
        } else {
            asm.line("mov r12, r3");
            asm.line("mov r3, r2");
            asm.line("push {r3-r11, lr}");
        }
        asm.line("add r2, r0, r12, lsl #1");
        asm.line("push {r2}");
        asm.line("ldmia r3, {r4-r%d}", lastSum());
    }

    private int lastSum() {
        return FIRST_SUM + PlainDotKernel.CHANNELS * pixels - 1;
    }

    private static void advance(AsmText asm, int taps) {
        asm.line("adds r0, #%d", Short.BYTES * taps);
        asm.line("adds r1, #%d", PlainDotKernel.CHANNELS * taps);
    }

    private void step(AsmText asm, int tap) {
        asm.line("ldrsh r2, [r0, #%d]", Short.BYTES * tap);
        if (pixels == 2) {
            asm.line("ldrsh r12, [r0, #%d]", Short.BYTES * tap + distance);
        }
        for (int first = 0; first < channels; first += 2) {
            int count = Math.min(2, channels - first);
            for (int c = first; c < first + count; c++) {
                asm.line("ldrsb %s, [r1, #%d]", weight(c), PlainDotKernel.CHANNELS * tap + c);
            }
            for (int c = first; c < first + count; c++) {
                for (int p = 0; p < pixels; p++) {
                    int sum = FIRST_SUM + PlainDotKernel.CHANNELS * p + c;
                    asm.line("mla r%d, %s, %s, r%d", sum, p == 0 ? "r2" : "r12", weight(c), sum);
                }
            }
        }
    }

    private static String weight(int channel) {
        return channel % 2 == 0 ? "r3" : "lr";
    }
}
