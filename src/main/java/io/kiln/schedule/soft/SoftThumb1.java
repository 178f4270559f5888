// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import io.kiln.schedule.parts.AsmText;

/**
 * The sums of {@link SoftKernel} for Armv6-M, which multiplies to 32 bits only: an input is {@code 2^15 x1 + x0} and a weight {@code 2^15 w1 + w0}. Some taps
 * add {@code x1 w1}, and apart a sixteenth of {@code x0 w1 + x1 w0}; then both are added to a sum of 64 bits in memory.
 *
 * <pre>
 * r0  inputs     r2, r3    x1, x0                 r8 to r12, lr  the two sums of each channel
 * r1  weights    r4 to r7  weights and products   stack          sums in memory, end of the inputs, callee-saved registers
 * </pre>
 *
 * @param channels at most 3
 */
record SoftThumb1(int channels) {
    /** Taps whose sums fit 32 bits. */
    static final int TAPS = 8;

    private static final String[] UPPER = {"r8", "r10", "r12"};
    private static final String[] LOWER = {"r9", "r11", "lr"};

    String lines() {
        AsmText asm = new AsmText();
        asm.line(".syntax unified");
        enter(asm);
        asm.line("1:");
        asm.line("movs r4, #0");
        for (int c = 0; c < channels; c++) {
            asm.line("mov %s, r4", UPPER[c]);
            asm.line("mov %s, r4", LOWER[c]);
        }
        asm.repeat(TAPS, () -> tap(asm));
        asm.line("ldr r2, [sp]");
        for (int c = 0; c < channels; c++) {
            flush(asm, c);
        }
        asm.line("ldr r2, [sp, #4]");
        asm.line("cmp r0, r2");
        asm.line("beq 2f");
        asm.line("b 1b");
        asm.line("2:");
        asm.line("add sp, #8");
        asm.line("pop {r4-r7}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 8 + i, 4 + i);
        }
        asm.line("pop {r4-r7, pc}");
        return asm.lines();
    }

    private void enter(AsmText asm) {
        asm.line("push {r4-r7, lr}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 4 + i, 8 + i);
        }
        asm.line("push {r4-r7}");
        asm.line("lsls r3, r3, #2");
        asm.line("adds r3, r3, r0");
        asm.line("push {r2, r3}");
        asm.line("movs r4, #0");
        asm.line("movs r5, #0");
        for (int c = 0; c < channels; c++) {
            asm.line("stmia r2!, {r4, r5}");
        }
    }

    private void tap(AsmText asm) {
        asm.line("ldmia r0!, {r3}");
        asm.line("asrs r2, r3, #16");
        asm.line("sxth r3, r3");
        for (int c = 0; c < channels; c++) {
            asm.line("ldmia r1!, {r4}");
            asm.line("asrs r4, r4, r4");
            asm.line("asrs r5, r4, #15");
            asm.line("lsls r4, r4, #17");
            asm.line("lsrs r4, r4, #17");
            asm.line("movs r6, r5");
            asm.line("muls r6, r3, r6");
            asm.line("muls r4, r2, r4");
            asm.line("adds r6, r6, r4");
            asm.line("asrs r6, r6, #4");
            asm.line("muls r5, r2, r5");
            asm.line("add %s, r5", UPPER[c]);
            asm.line("add %s, r6", LOWER[c]);
        }
    }

    /** Adds a channel's sums to its sum at r2, and advances it. */
    private static void flush(AsmText asm, int channel) {
        asm.line("mov r4, %s", UPPER[channel]);
        asm.line("mov r5, %s", LOWER[channel]);
        asm.line("asrs r5, r5, #11");
        asm.line("adds r4, r4, r5");
        asm.line("asrs r5, r4, #31");
        asm.line("ldr r6, [r2]");
        asm.line("ldr r7, [r2, #4]");
        asm.line("adds r6, r6, r4");
        asm.line("adcs r7, r5");
        asm.line("stmia r2!, {r6, r7}");
    }
}
