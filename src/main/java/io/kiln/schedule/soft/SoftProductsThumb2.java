// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import io.kiln.schedule.parts.AsmText;

/**
 * The sums of {@link SoftProductKernel} for Armv7-M. The first pass over the taps finds the largest exponent and keeps each on the stack, the second one
 * adds products, rounded to the nearest by the bit that a shift leaves in the carry.
 *
 * <pre>
 * r0  inputs          r3      largest exponent          r9   sum                     r12  biases
 * r1  weights         r4 to r6, r7, r8  temporary       r10  1                       lr   inputs of the channel
 * r2  step of a tap   r11     step of a row             stack, behind exponents    output, channels, step of a channel, limits
 * </pre>
 *
 * @param kernel what is summed
 */
record SoftProductsThumb2(SoftProductKernel kernel) {
    private static final int SAVED = 9;

    /** Where what lies behind the exponents of the taps on the stack begins. */
    private int out() {
        return Integer.BYTES * kernel.taps();
    }

    String lines() {
        AsmText asm = new AsmText();
        enter(asm);
        asm.line("1:");
        asm.line("ldrsh r3, [r12, #6]");
        for (int tap = 0; tap < kernel.taps(); tap++) {
            exponent(asm, tap);
        }
        asm.line("sub r6, r3, #%d", SoftProductKernel.LEAST_TOP);
        asm.line("cmp r6, #%d", SoftProductKernel.TOPS);
        asm.line("bhi 8f");
        asm.line("ldr r9, [r12]");
        asm.line("ldrsh r6, [r12, #6]");
        asm.line("mov r0, lr");
        asm.line("add r3, r3, #%d", kernel.shift());
        asm.line("sub r6, r3, r6");
        asm.line("asrs r9, r9, r6");
        asm.line("adc r9, r9, #0");
        for (int tap = 0; tap < kernel.taps(); tap++) {
            product(asm, tap);
        }
        result(asm);
        next(asm);
        return asm.lines();
    }

    private void enter(AsmText asm) {
        asm.line("push {r4-r11, lr}");
        asm.line("ldr r4, [sp, #%d]", Integer.BYTES * SAVED);
        asm.line("mov r12, r2");
        asm.line("mov lr, r0");
        asm.line("ldm r4, {r5-r10}");
        asm.line("mov r2, r7");
        asm.line("mov r11, r8");
        asm.line("push {r3, r5, r6, r9, r10}");
        asm.line("sub sp, sp, #%d", out());
        asm.line("mov r10, #1");
    }

    private void load(AsmText asm, int tap) {
        asm.line("ldr r4, [r0]");
        asm.line("ldr r5, [r1, #%d]", Integer.BYTES * tap);
    }

    private void step(AsmText asm, int tap) {
        if (tap + 1 < kernel.taps()) {
            asm.line("add r0, r0, r2");
            if (kernel.endsRow(tap)) {
                asm.line("add r0, r0, r11");
            }
        }
    }

    private void exponent(AsmText asm, int tap) {
        load(asm, tap);
        step(asm, tap);
        asm.line("ubfx r6, r4, #23, #8");
        asm.line("and r5, r5, #31");
        asm.line("sub r6, r6, r5");
        asm.line("str r6, [sp, #%d]", Integer.BYTES * tap);
        asm.line("cmp r6, r3");
        asm.line("it gt");
        asm.line("movgt r3, r6");
    }

    private void product(AsmText asm, int tap) {
        load(asm, tap);
        asm.line("ldr r6, [sp, #%d]", Integer.BYTES * tap);
        step(asm, tap);
        asm.line("lsl r7, r4, #7");
        asm.line("bfi r7, r10, #30, #2");
        asm.line("smull r7, r8, r5, r7");
        asm.line("sub r6, r3, r6");
        asm.line("eor r8, r8, r4, asr #31");
        asm.line("asrs r8, r8, r6");
        asm.line("adc r9, r9, r8");
    }

    private void result(AsmText asm) {
        asm.line("ldrsh r6, [r12, #4]");
        asm.line("eor r7, r9, r9, asr #31");
        asm.line("subs r7, r7, r9, asr #31");
        asm.line("beq 2f");
        asm.line("clz r8, r7");
        asm.line("add r6, r6, r3");
        asm.line("lsl r7, r7, r8");
        asm.line("sub r6, r6, r8");
        asm.line("cmp r6, #%d", SoftProductKernel.MOST_FIELD);
        asm.line("bhi 8f");
        asm.line("and r9, r9, #0x80000000");
        asm.line("lsrs r7, r7, #8");
        asm.line("adc r7, r7, r6, lsl #23");
        asm.line("orr r7, r7, r9");
        asm.line("2:");
    }

    private void next(AsmText asm) {
        asm.line("ldr r4, [sp, #%d]", out() + 12);
        asm.line("ldr r5, [sp, #%d]", out() + 16);
        asm.line("ldr r6, [sp, #%d]", out());
        asm.line("cmp r7, r4");
        asm.line("it lt");
        asm.line("movlt r7, r4");
        asm.line("cmp r7, r5");
        asm.line("it gt");
        asm.line("movgt r7, r5");
        asm.line("ldr r4, [sp, #%d]", out() + 4);
        asm.line("ldr r5, [sp, #%d]", out() + 8);
        asm.line("str r7, [r6], #4");
        asm.line("str r6, [sp, #%d]", out());
        asm.line("add r12, r12, #8");
        asm.line("add r1, r1, #%d", Integer.BYTES * kernel.taps());
        asm.line("add lr, lr, r5");
        asm.line("subs r4, r4, #1");
        asm.line("mov r0, lr");
        asm.line("str r4, [sp, #%d]", out() + 4);
        asm.line("bne 1b");
        asm.line("8:");
        asm.line("ldr r4, [sp, #%d]", out() + 4);
        asm.line("ldr r5, [sp, #%d]", out() + Integer.BYTES * (5 + SAVED));
        asm.line("str r4, [r5]");
        asm.line("add sp, sp, #%d", out() + 20);
        asm.line("pop {r4-r11, pc}");
    }
}
