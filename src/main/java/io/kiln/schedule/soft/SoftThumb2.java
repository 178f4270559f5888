// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import io.kiln.schedule.parts.AsmText;

/**
 * The sums of {@link SoftKernel} for Armv7-M, where a load right behind a load takes one cycle in place of two.
 *
 * <pre>
 * r0  inputs     r2, r3, lr  weights     r4 to r11  sums of 64 bits, by channel
 * r1  weights    r12         input       stack      end of the inputs, sums in memory, callee-saved registers
 * </pre>
 *
 * @param channels at most 4
 * @param unroll taps in the loop
 */
record SoftThumb2(int channels, int unroll) {
    private static final String[] WEIGHTS = {"r2", "r3", "lr"};
    private static final int FIRST_SUM = 4;

    String lines() {
        AsmText asm = new AsmText();
        asm.line("push {r2, r4-r11, lr}");
        asm.line("add r3, r0, r3, lsl #2");
        asm.line("push {r3}");
        for (int i = 0; i < 2 * channels; i++) {
            asm.line("mov r%d, #0", FIRST_SUM + i);
        }
        asm.line("1:");
        for (int tap = 0; tap < unroll; tap++) {
            tap(asm, tap);
        }
        asm.line("ldr r2, [sp]");
        asm.line("add r0, r0, #%d", Integer.BYTES * unroll);
        asm.line("add r1, r1, #%d", Integer.BYTES * unroll * channels);
        asm.line("cmp r0, r2");
        asm.line("bne 1b");
        asm.line("pop {r2, r3}");
        asm.line("stmia r3, {r4-r%d}", FIRST_SUM + 2 * channels - 1);
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private void tap(AsmText asm, int tap) {
        asm.line("ldr r12, [r0, #%d]", Integer.BYTES * tap);
        for (int first = 0; first < channels; first += WEIGHTS.length) {
            int end = Math.min(channels, first + WEIGHTS.length);
            for (int c = first; c < end; c++) {
                asm.line("ldr %s, [r1, #%d]", WEIGHTS[c - first], Integer.BYTES * (tap * channels + c));
            }
            for (int c = first; c < end; c++) {
                asm.line("asr %1, %1, %1".replace("%1", WEIGHTS[c - first]));
            }
            for (int c = first; c < end; c++) {
                int sum = FIRST_SUM + 2 * c;
                asm.line("smlal r%d, r%d, r12, %s", sum, sum + 1, WEIGHTS[c - first]);
            }
        }
    }
}
