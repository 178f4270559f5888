// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;

/**
 * {@link SumsKernel} for Armv6-M, one pixel. Loads of signed bytes need a register for the offset, so that weights are bytes
 * without a sign, 128 more; 128 times the sum of the inputs is subtracted in the end.
 *
 * <pre>
 * r0  inputs     r2  an input               r4 to r7  sums              r9  end of the inputs
 * r1  weights    r3  a weight, a product    r8        sum of inputs     lr  taps before the loop of four
 * </pre>
 *
 * @param channels at most four
 * @param bytes of an input, 1 or 2
 */
record SumsThumb1(int channels, int bytes) {
    private static final int UNROLL = 4;

    /** Stack offset of the last argument, above the pushed registers. */
    private static final int TAPS = 32;

    String lines() {
        AsmText asm = new AsmText();
        asm.line(".syntax unified");
        asm.line("push {r2, r4-r7, lr}");
        asm.line("mov r4, r8");
        asm.line("mov r5, r9");
        asm.line("push {r4, r5}");
        asm.line("ldr r3, [sp, #%d]", TAPS);
        asm.line("adds r2, r0, r3");
        if (bytes == 2) {
            asm.line("adds r2, r2, r3");
        }
        asm.line("mov r9, r2");
        for (int c = 0; c < 4; c++) {
            asm.line("movs r%d, #0", 4 + c);
        }
        asm.line("mov r8, r4");
        asm.line("movs r2, #%d", UNROLL - 1);
        asm.line("ands r3, r2");
        asm.line("beq 2f");
        asm.line("1:");
        asm.line("mov lr, r3");
        step(asm, 0);
        asm.line("adds r1, #%d", channels);
        asm.line("adds r0, #%d", bytes);
        asm.line("mov r3, lr");
        asm.line("subs r3, #1");
        asm.line("bne 1b");
        asm.line("2:");
        fours(asm);
        end(asm);
        return asm.lines();
    }

    /** The steps of four up to the end of the inputs. */
    private void fours(AsmText asm) {
        asm.line("cmp r0, r9");
        asm.line("beq 4f");
        asm.line("3:");
        for (int tap = 0; tap < UNROLL; tap++) {
            step(asm, tap);
        }
        asm.line("adds r1, #%d", UNROLL * channels);
        asm.line("adds r0, #%d", UNROLL * bytes);
        asm.line("cmp r0, r9");
        asm.line("bne 3b");
        asm.line("4:");
    }

    private void step(AsmText asm, int tap) {
        asm.line("%s r2, [r0, #%d]", bytes == 1 ? "ldrb" : "ldrh", tap * bytes);
        asm.line(bytes == 1 ? "sxtb r2, r2" : "sxth r2, r2");
        asm.line("add r8, r2");
        for (int c = 0; c < channels; c++) {
            asm.line("ldrb r3, [r1, #%d]", tap * channels + c);
            asm.line("muls r3, r2, r3");
            asm.line("adds r%d, r%d, r3", 4 + c, 4 + c);
        }
    }

    private void end(AsmText asm) {
        asm.line("mov r2, r8");
        asm.line("lsls r2, r2, #7");
        for (int c = 0; c < channels; c++) {
            asm.line("subs r%d, r%d, r2", 4 + c, 4 + c);
        }
        asm.line("pop {r2, r3}");
        asm.line("mov r8, r2");
        asm.line("mov r9, r3");
        asm.line("pop {r2}");
        asm.line(channels == 1 ? "stmia r2!, {r4}" : "stmia r2!, {r4-r%d}", 3 + channels);
        asm.line("pop {r4-r7, pc}");
    }
}
