// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import io.kiln.schedule.parts.AsmText;

/**
 * The sums of {@link SoftProductKernel} for Armv6-M, which multiplies 32 bits by 32 and keeps the lower half: a significand is {@code 2^8 x1 + x0} and a weight
 * {@code 2^16 w1 + w0}, and a product is {@code x1 w1} and the upper bits of {@code x0 w1} and of {@code x1 w0}. It is rounded to the nearest by the bit that a
 * shift leaves in the carry.
 *
 * <pre>
 * r0  inputs     r2 to r7  temporary        r9   largest exponent     r12  step of a row
 * r1  weights    r8        step of a tap    r10  leading bit          lr   inputs of the channel     r11  sum
 * stack          exponents of the taps, output, channels, step of a channel, limits, biases, callee-saved registers, layer
 * </pre>
 *
 * @param kernel what is summed
 */
record SoftProductsThumb1(SoftProductKernel kernel) {
    private static final int SAVED = 9;
    private static final int KEPT = 6;

    // Words on the stack, behind the exponents of the taps.
    private static final int OUT = 0;
    private static final int CHANNELS = 1;
    private static final int CHANNEL_STEP = 2;
    private static final int LOW = 3;
    private static final int HIGH = 4;
    private static final int START = 5;

    private int at(int slot) {
        return Integer.BYTES * (kernel.taps() + slot);
    }

    String lines() {
        AsmText asm = new AsmText();
        asm.line(".syntax unified");
        enter(asm);
        asm.line("1:");
        asm.line("ldr r5, [sp, #%d]", at(START));
        asm.line("movs r6, #6");
        asm.line("ldrsh r6, [r5, r6]");
        for (int tap = 0; tap < kernel.taps(); tap++) {
            exponent(asm, tap);
        }
        asm.line("subs r1, r1, #%d", Integer.BYTES * kernel.taps());
        asm.line("mov r2, r6");
        asm.line("subs r2, r2, #%d", SoftProductKernel.LEAST_TOP);
        asm.line("cmp r2, #%d", SoftProductKernel.TOPS);
        leaveUnlessLower(asm);
        start(asm);
        for (int tap = 0; tap < kernel.taps(); tap++) {
            product(asm, tap);
        }
        result(asm);
        limit(asm);
        next(asm);
        return asm.lines();
    }

    /** A branch that is not far ends at another one that is. */
    private static void leaveUnlessLower(AsmText asm) {
        asm.line("bls 3f");
        asm.line("b 8f");
        asm.line("3:");
    }

    private void enter(AsmText asm) {
        asm.line("push {r4-r7, lr}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 4 + i, 8 + i);
        }
        asm.line("push {r4-r7}");
        asm.line("ldr r4, [sp, #%d]", Integer.BYTES * SAVED);
        asm.line("mov lr, r0");
        asm.line("sub sp, sp, #%d", at(OUT) + Integer.BYTES * KEPT);
        asm.line("str r2, [sp, #%d]", at(START));
        asm.line("ldmia r4!, {r0, r2, r5, r6}");
        asm.line("mov r8, r5");
        asm.line("mov r12, r6");
        asm.line("ldmia r4!, {r5, r6}");
        asm.line("str r3, [sp, #%d]", at(OUT));
        asm.line("str r0, [sp, #%d]", at(CHANNELS));
        asm.line("str r2, [sp, #%d]", at(CHANNEL_STEP));
        asm.line("str r5, [sp, #%d]", at(LOW));
        asm.line("str r6, [sp, #%d]", at(HIGH));
        asm.line("movs r4, #1");
        asm.line("lsls r4, r4, #15");
        asm.line("mov r10, r4");
        asm.line("mov r0, lr");
    }

    private void load(AsmText asm, int tap) {
        asm.line("ldr r2, [r0]");
        asm.line("ldmia r1!, {r3}");
        if (tap + 1 < kernel.taps()) {
            asm.line("add r0, r0, r8");
            if (kernel.endsRow(tap)) {
                asm.line("add r0, r0, r12");
            }
        }
    }

    private void exponent(AsmText asm, int tap) {
        load(asm, tap);
        asm.line("lsls r2, r2, #1");
        asm.line("lsrs r2, r2, #24");
        asm.line("lsls r3, r3, #27");
        asm.line("lsrs r3, r3, #27");
        asm.line("subs r2, r2, r3");
        asm.line("str r2, [sp, #%d]", Integer.BYTES * tap);
        asm.line("cmp r2, r6");
        asm.line("ble 2f");
        asm.line("mov r6, r2");
        asm.line("2:");
    }

    /** The bias begins the sum. */
    private void start(AsmText asm) {
        asm.line("ldr r7, [r5]");
        asm.line("movs r2, #6");
        asm.line("ldrsh r2, [r5, r2]");
        asm.line("adds r6, r6, #%d", kernel.shift());
        asm.line("mov r9, r6");
        asm.line("subs r6, r6, r2");
        asm.line("movs r2, #0");
        asm.line("asrs r7, r7, r6");
        asm.line("adcs r7, r7, r2");
        asm.line("mov r11, r7");
        asm.line("mov r0, lr");
    }

    private void product(AsmText asm, int tap) {
        load(asm, tap);
        asm.line("lsls r5, r2, #9");
        asm.line("lsrs r5, r5, #17");
        asm.line("add r5, r5, r10");
        asm.line("uxtb r6, r2");
        asm.line("asrs r7, r3, #16");
        asm.line("uxth r3, r3");
        asm.line("muls r6, r7, r6");
        asm.line("asrs r6, r6, #8");
        asm.line("muls r3, r5, r3");
        asm.line("lsrs r3, r3, #16");
        asm.line("muls r5, r7, r5");
        asm.line("adds r5, r5, r6");
        asm.line("adds r5, r5, r3");
        asm.line("asrs r2, r2, #31");
        asm.line("eors r5, r5, r2");
        asm.line("mov r4, r9");
        asm.line("ldr r3, [sp, #%d]", Integer.BYTES * tap);
        asm.line("subs r4, r4, r3");
        asm.line("movs r2, #0");
        asm.line("asrs r5, r5, r4");
        asm.line("adcs r5, r5, r2");
        asm.line("add r11, r11, r5");
    }

    /** The sum as a float in r4. */
    private void result(AsmText asm) {
        asm.line("mov r4, r11");
        asm.line("asrs r2, r4, #31");
        asm.line("eors r4, r4, r2");
        asm.line("subs r4, r4, r2");
        asm.line("beq 7f");
        asm.line("ldr r5, [sp, #%d]", at(START));
        asm.line("movs r6, #4");
        asm.line("ldrsh r6, [r5, r6]");
        asm.line("add r6, r6, r9");
        for (int bits = 16; bits > 0; bits /= 2) {
            asm.line("lsrs r5, r4, #%d", Integer.SIZE - bits);
            asm.line("bne 2f");
            asm.line("lsls r4, r4, #%d", bits);
            asm.line("subs r6, r6, #%d", bits);
            asm.line("2:");
        }
        asm.line("cmp r6, #%d", SoftProductKernel.MOST_FIELD);
        leaveUnlessLower(asm);
        asm.line("lsls r2, r2, #31");
        asm.line("lsls r6, r6, #23");
        asm.line("lsrs r4, r4, #8");
        asm.line("adcs r4, r4, r6");
        asm.line("orrs r4, r4, r2");
        asm.line("7:");
    }

    private void limit(AsmText asm) {
        asm.line("ldr r5, [sp, #%d]", at(LOW));
        asm.line("cmp r4, r5");
        asm.line("bge 2f");
        asm.line("mov r4, r5");
        asm.line("2:");
        asm.line("ldr r5, [sp, #%d]", at(HIGH));
        asm.line("cmp r4, r5");
        asm.line("ble 2f");
        asm.line("mov r4, r5");
        asm.line("2:");
    }

    private void next(AsmText asm) {
        asm.line("ldr r5, [sp, #%d]", at(OUT));
        asm.line("stmia r5!, {r4}");
        asm.line("str r5, [sp, #%d]", at(OUT));
        asm.line("ldr r5, [sp, #%d]", at(START));
        asm.line("adds r5, r5, #8");
        asm.line("str r5, [sp, #%d]", at(START));
        asm.line("ldr r5, [sp, #%d]", at(CHANNEL_STEP));
        asm.line("add lr, lr, r5");
        asm.line("mov r0, lr");
        asm.line("ldr r5, [sp, #%d]", at(CHANNELS));
        asm.line("subs r5, r5, #1");
        asm.line("str r5, [sp, #%d]", at(CHANNELS));
        asm.line("beq 8f");
        asm.line("b 1b");
        asm.line("8:");
        asm.line("ldr r4, [sp, #%d]", at(CHANNELS));
        asm.line("ldr r5, [sp, #%d]", at(OUT) + Integer.BYTES * (KEPT + SAVED));
        asm.line("str r4, [r5]");
        asm.line("add sp, sp, #%d", at(OUT) + Integer.BYTES * KEPT);
        asm.line("pop {r4-r7}");
        for (int i = 0; i < 4; i++) {
            asm.line("mov r%d, r%d", 8 + i, 4 + i);
        }
        asm.line("pop {r4-r7, pc}");
    }
}
