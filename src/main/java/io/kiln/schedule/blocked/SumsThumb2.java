// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;

/**
 * {@link SumsKernel} for Armv7-M. An odd number of taps enters the loop of two steps at the second one.
 *
 * <pre>
 * r0 r3    inputs of both pixels          r4 to r11  sums, by channel, then by pixel
 * r1       weights                        lr         a weight
 * r2 r12   the inputs of a step           stack      sums, callee-saved registers, end of the inputs
 * </pre>
 *
 * <p>If registers are left, one of them holds the end of the inputs.
 *
 * @param pixels 1 or 2
 * @param channels at most 8 sums
 */
record SumsThumb2(int pixels, int channels) {
    /** Stack offset of the last argument, above the pushed registers. */
    private static final int TAPS = 40;

    String lines() {
        AsmText asm = new AsmText();
        asm.line("push {r2, r4-r11, lr}");
        asm.line("ldr r12, [sp, #%d]", TAPS);
        if (pixels == 2) {
            asm.line("add r3, r0");
            asm.line("add r2, r0, r12");
            asm.line(hasEnd() ? "mov r11, r2" : "str r2, [sp, #40]");
        } else {
            asm.line("add r3, r0, r12");
        }
        for (int i = 0; i < pixels * channels; i++) {
            asm.line("mov r%d, #0", 4 + i);
        }
        asm.line("lsls r12, r12, #31");
        asm.line("bne 2f");
        asm.line("1:");
        step(asm);
        asm.line("2:");
        step(asm);
        if (!hasEnd()) {
            asm.line("ldr r2, [sp, #%d]", TAPS);
        }
        asm.line("cmp r0, %s", pixels == 1 ? "r3" : hasEnd() ? "r11" : "r2");
        asm.line("bne 1b");
        asm.line("pop {r2}");
        if (pixels * channels == 1) {
            asm.line("str r4, [r2]");
        } else {
            asm.line("stmia r2, {r4-r%d}", 3 + pixels * channels);
        }
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private boolean hasEnd() {
        return pixels == 1 || pixels * channels < 8;
    }

    private void step(AsmText asm) {
        asm.line("ldrsb r2, [r0], #1");
        if (pixels == 2) {
            asm.line("ldrsb r12, [r3], #1");
        }
        for (int c = 0; c < channels; c++) {
            asm.line("ldrsb lr, [r1], #1");
            for (int p = 0; p < pixels; p++) {
                int sum = 4 + c * pixels + p;
                asm.line("mla r%d, %s, lr, r%d", sum, p == 0 ? "r2" : "r12", sum);
            }
        }
    }
}
