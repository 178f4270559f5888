// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.schedule.parts.AsmText;

/**
 * {@link PlainDotKernel} for Armv6-M. Weights come as a word, from which each is extended twice, because a multiplication replaces one of its
 * factors. Sums lie in registers that add, but do not multiply. The taps left over by unrolled steps are summed before the loop.
 *
 * <pre>
 * r0      inputs of the first pixel     r8 to r11        sums of the first pixel
 * r1      weights                       r12 lr r6 r7     of the second
 * r2, r3  the inputs of a tap           stack            sums, end of the inputs, bytes from the first pixel to the second for
 * r4, r5  weights, a product                             each tap of a step, callee-saved registers
 * </pre>
 *
 * @param pixels 1 or 2
 * @param channels at most 4
 * @param unroll steps in the loop: 4, or 2
 */
record DotThumb1(int pixels, int channels, int unroll) {
    /** Steps in the loop for speed. */
    static final int UNROLL = 4;

    private static final String[][] SUMS = {{"r8", "r9", "r10", "r11"}, {"r12", "lr", "r6", "r7"}};

    /** Stack offset of the fifth argument, above the pushed registers. */
    private static final int TAPS = 36;

    private static final int END = 4;
    private static final int DISTANCES = 8;

    String lines() {
        AsmText asm = new AsmText();
        asm.line(".syntax unified");
        enter(asm);
        asm.line("1:");
        asm.line("ldr r3, [sp, #%d]", END);
        asm.line("subs r3, r3, r0");
        asm.line("bne 2f");
        asm.line("b 4f");
        asm.line("2:");
        asm.line("movs r4, #%d", Short.BYTES * (unroll - 1));
        asm.line("tst r3, r4");
        asm.line("beq 3f");
        step(asm, 0);
        asm.line("adds r0, #%d", Short.BYTES);
        asm.line("b 1b");
        asm.line("3:");
        for (int tap = 0; tap < unroll; tap++) {
            step(asm, tap);
        }
        asm.line("adds r0, #%d", Short.BYTES * unroll);
        asm.line("ldr r3, [sp, #%d]", END);
        asm.line("cmp r0, r3");
        asm.line("beq 4f");
        asm.line("b 3b");
        asm.line("4:");
        leave(asm);
        return asm.lines();
    }

    /** Arguments lie in r0 to r3, a fifth one on the stack. */
    private void enter(AsmText asm) {
        asm.line("push {r4-r7, lr}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 4 + i, 8 + i);
        }
        asm.line("push {r4-r7}");
        if (pixels == 2) {
            asm.line("subs r4, r1, r0");
            asm.line("movs r1, r2");
            asm.line("movs r2, r3");
            asm.line("ldr r3, [sp, #%d]", TAPS);
            for (int tap = 1; tap < UNROLL; tap++) {
                asm.line("adds r%d, r4, #%d", 4 + tap, Short.BYTES * tap);
            }
        }
        asm.line("lsls r3, r3, #1");
        asm.line("adds r3, r3, r0");
        asm.line(pixels == 2 ? "push {r2-r7}" : "push {r2, r3}");
        for (int p = 0; p < pixels; p++) {
            asm.line("ldmia r2!, {r4-r7}");
            for (int c = 0; c < PlainDotKernel.CHANNELS; c++) {
                move(asm, SUMS[p][c], "r" + (4 + c));
            }
        }
    }

    private static void move(AsmText asm, String to, String from) {
        if (!to.equals(from)) {
            asm.line("mov %s, %s", to, from);
        }
    }

    /** The second pixel's sums first, because two of them lie in registers that the first one's pass through. */
    private void leave(AsmText asm) {
        asm.line("ldr r2, [sp]");
        if (pixels == 2) {
            asm.line("adds r2, #%d", Integer.BYTES * PlainDotKernel.CHANNELS);
        }
        for (int p = pixels - 1; p >= 0; p--) {
            for (int c = 0; c < PlainDotKernel.CHANNELS; c++) {
                move(asm, "r" + (4 + c), SUMS[p][c]);
            }
            asm.line("stmia r2!, {r4-r7}");
            if (p > 0) {
                asm.line("subs r2, #%d", 2 * Integer.BYTES * PlainDotKernel.CHANNELS);
            }
        }
        asm.line("add sp, #%d", pixels == 2 ? DISTANCES + Integer.BYTES * UNROLL : DISTANCES);
        asm.line("pop {r4-r7}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 8 + i, 4 + i);
        }
        asm.line("pop {r4-r7, pc}");
    }

    private void step(AsmText asm, int tap) {
        asm.line("ldrh r2, [r0, #%d]", Short.BYTES * tap);
        asm.line("sxth r2, r2");
        if (pixels == 2) {
            asm.line("ldr r5, [sp, #%d]", DISTANCES + Integer.BYTES * tap);
            asm.line("ldrsh r3, [r0, r5]");
        }
        asm.line("ldmia r1!, {r4}");
        for (int c = 0; c < channels; c++) {
            boolean isLast = c == PlainDotKernel.CHANNELS - 1;
            if (c > 0) {
                asm.line("asrs r4, r4, #8");
            }
            for (int p = 0; p < pixels; p++) {
                boolean isReplaced = isLast && p == pixels - 1;
                if (!isReplaced) {
                    asm.line(isLast ? "movs r5, r4" : "sxtb r5, r4");
                }
                String product = isReplaced ? "r4" : "r5";
                asm.line("muls %s, r%d, %s", product, 2 + p, product);
                asm.line("add %s, %s", SUMS[p][c], product);
            }
        }
    }
}
