// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import java.util.ArrayList;
import java.util.List;

/**
 * {@link SumsKernel} for Armv7-M, where a load right behind a load takes one cycle in place of two, if the first one does not change its
 * address: loads are in groups, as long as registers are left. The taps left over by steps of four are summed before the loop.
 *
 * <pre>
 * r0 r3    inputs of the pixels           r4 to r11  sums, by channel, then by pixel; the rest: weights
 * r1       weights                        lr         a weight
 * r2 r12   the inputs of a step           stack      sums, callee-saved registers, end of the inputs
 * </pre>
 *
 * @param pixels 1 or 2
 * @param channels at most 8 sums
 * @param bytes of an input: 1, or 2 for one pixel
 */
record InterleavedSumsThumb2(int pixels, int channels, int bytes) {
    private static final int UNROLL = 4;
    private static final int FIRST_SUM = 4;
    private static final int LAST_SUM = 11;

    /** Stack offset of the last argument, above the pushed registers; the end of the inputs takes its place. */
    private static final int TAPS = 40;

    String lines() {
        AsmText asm = new AsmText();
        asm.line("push {r2, r4-r11, lr}");
        asm.line("ldr r12, [sp, #%d]", TAPS);
        asm.line("add r3, r0");
        asm.line(bytes == 1 ? "add r2, r0, r12" : "add r2, r0, r12, lsl #1");
        asm.line("str r2, [sp, #%d]", TAPS);
        for (int i = 0; i < pixels * channels; i++) {
            asm.line("mov r%d, #0", FIRST_SUM + i);
        }
        asm.line("1:");
        asm.line("ldr r2, [sp, #%d]", TAPS);
        asm.line("subs r2, r0");
        asm.line("beq 4f");
        asm.line("ands r2, #%d", (UNROLL - 1) * bytes);
        asm.line("beq 3f");
        step(asm, 0);
        advance(asm, 1);
        asm.line("b 1b");
        asm.line("3:");
        for (int tap = 0; tap < UNROLL; tap++) {
            step(asm, tap);
        }
        asm.line("ldr r2, [sp, #%d]", TAPS);
        advance(asm, UNROLL);
        asm.line("cmp r0, r2");
        asm.line("bne 3b");
        asm.line("4:");
        asm.line("pop {r2}");
        if (pixels * channels == 1) {
            asm.line("str r4, [r2]");
        } else {
            asm.line("stmia r2, {r4-r%d}", FIRST_SUM - 1 + pixels * channels);
        }
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private void advance(AsmText asm, int taps) {
        asm.line("adds r0, #%d", taps * bytes);
        if (pixels == 2) {
            asm.line("adds r3, #%d", taps);
        }
        asm.line("adds r1, #%d", taps * channels);
    }

    /** Registers for weights. */
    private List<String> left() {
        List<String> left = new ArrayList<>();
        left.add("lr");
        if (pixels == 1) {
            left.add("r12");
            left.add("r3");
        }
        for (int i = FIRST_SUM + pixels * channels; i <= LAST_SUM; i++) {
            left.add("r" + i);
        }
        return left;
    }

    private void step(AsmText asm, int tap) {
        List<String> left = left();
        asm.line("%s r2, [r0, #%d]", bytes == 1 ? "ldrsb" : "ldrsh", tap * bytes);
        if (pixels == 2) {
            asm.line("ldrsb r12, [r3, #%d]", tap);
        }
        for (int begin = 0; begin < channels; begin += left.size()) {
            int end = Math.min(channels, begin + left.size());
            for (int c = begin; c < end; c++) {
                asm.line("ldrsb %s, [r1, #%d]", left.get(c - begin), tap * channels + c);
            }
            for (int c = begin; c < end; c++) {
                for (int p = 0; p < pixels; p++) {
                    int sum = FIRST_SUM + c * pixels + p;
                    asm.line("mla r%d, %s, %s, r%d", sum, p == 0 ? "r2" : "r12", left.get(c - begin), sum);
                }
            }
        }
    }
}
