// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import io.kiln.schedule.parts.AsmText;

/**
 * The sums of {@link SoftProductKernel} for RV32IM. The first pass over the taps finds the largest exponent and keeps each on the stack, the second one
 * adds products; what the next one needs is loaded while one is multiplied. Products that are too small to count are left out.
 *
 * <pre>
 * a0  inputs     a3  output             a6  step of a tap        t0 t1 t2 t3  temporary     s0  sum        s2  32             s4 s5  limits
 * a1  weights    a4  layer              a7  step of a row        t4 t5        inputs        s1  largest    s3  leading bit    s6     inputs of the channel
 * a2  biases     a5  step of a channel  t6  channels             s7 s8        significands, weights and products in turn
 * </pre>
 *
 * @param kernel what is summed
 */
record SoftProductsRiscV(SoftProductKernel kernel) {
    private static final int SAVED = 9;
    private static final int IMPLICIT = 1 << 30;

    String lines() {
        AsmText asm = new AsmText();
        enter(asm);
        asm.line("1:");
        asm.line("mv a0, s6");
        asm.line("lh s1, 6(a2)");
        for (int tap = 0; tap < kernel.taps(); tap++) {
            exponent(asm, tap);
        }
        asm.line("addi t0, s1, -%d", SoftProductKernel.LEAST_TOP);
        asm.line("li t1, %d", SoftProductKernel.TOPS + 1);
        asm.line("bgeu t0, t1, 8f");
        asm.line("lw s0, 0(a2)");
        asm.line("lh t0, 6(a2)");
        asm.line("mv a0, s6");
        asm.line("addi s1, s1, %d", kernel.shift());
        asm.line("sub t0, s1, t0");
        asm.line("bltu t0, s2, 3f");
        asm.line("li s0, 0");
        asm.line("3:");
        asm.line("sra s0, s0, t0");
        multiply(asm, 0);
        for (int tap = 0; tap < kernel.taps(); tap++) {
            if (tap + 1 < kernel.taps()) {
                load(asm, tap + 1);
            }
            add(asm, tap);
            if (tap + 1 < kernel.taps()) {
                asm.line("mulh %s, %s, %s", product(tap + 1), weight(tap + 1), product(tap + 1));
            }
        }
        result(asm);
        next(asm);
        return asm.lines();
    }

    private int frame() {
        return (Integer.BYTES * (kernel.taps() + SAVED) + 15) / 16 * 16;
    }

    private int kept(int register) {
        return Integer.BYTES * (kernel.taps() + register);
    }

    private void enter(AsmText asm) {
        asm.line("addi sp, sp, -%d", frame());
        for (int i = 0; i < SAVED; i++) {
            asm.line("sw s%d, %d(sp)", i, kept(i));
        }
        asm.line("lw t6, 0(a4)");
        asm.line("lw a5, 4(a4)");
        asm.line("lw a6, 8(a4)");
        asm.line("lw a7, 12(a4)");
        asm.line("lw s4, 16(a4)");
        asm.line("lw s5, 20(a4)");
        asm.line("mv s6, a0");
        asm.line("li s2, 32");
        asm.line("li s3, %d", IMPLICIT);
    }

    private static String input(int tap) {
        return tap % 2 == 0 ? "t4" : "t5";
    }

    private static String product(int tap) {
        return tap % 2 == 0 ? "s7" : "s8";
    }

    private static String weight(int tap) {
        return tap % 2 == 0 ? "t2" : "t3";
    }

    private void step(AsmText asm, int tap) {
        if (tap + 1 < kernel.taps()) {
            asm.line("add a0, a0, a6");
            if (kernel.endsRow(tap)) {
                asm.line("add a0, a0, a7");
            }
        }
    }

    private void exponent(AsmText asm, int tap) {
        asm.line("lw t0, 0(a0)");
        asm.line("lw t1, %d(a1)", Integer.BYTES * tap);
        step(asm, tap);
        asm.line("slli t0, t0, 1");
        asm.line("srli t0, t0, 24");
        asm.line("andi t1, t1, 31");
        asm.line("sub t0, t0, t1");
        asm.line("sw t0, %d(sp)", Integer.BYTES * tap);
        asm.line("bge s1, t0, 2f");
        asm.line("mv s1, t0");
        asm.line("2:");
    }

    /** Loads an input and a weight, and makes the input's significand. */
    private void load(AsmText asm, int tap) {
        asm.line("lw %s, 0(a0)", input(tap));
        asm.line("lw %s, %d(a1)", weight(tap), Integer.BYTES * tap);
        step(asm, tap);
        asm.line("slli %s, %s, 9", product(tap), input(tap));
        asm.line("srli %1, %1, 2".replace("%1", product(tap)));
        asm.line("or %1, %1, s3".replace("%1", product(tap)));
    }

    private void multiply(AsmText asm, int tap) {
        load(asm, tap);
        asm.line("mulh %s, %s, %s", product(tap), weight(tap), product(tap));
    }

    private void add(AsmText asm, int tap) {
        String product = product(tap);
        asm.line("lw t0, %d(sp)", Integer.BYTES * tap);
        asm.line("bgez %s, 2f", input(tap));
        asm.line("neg %1, %1".replace("%1", product));
        asm.line("2:");
        asm.line("sub t0, s1, t0");
        asm.line("bgeu t0, s2, 2f");
        asm.line("sra %1, %1, t0".replace("%1", product));
        asm.line("add s0, s0, %s", product);
        asm.line("2:");
    }

    /** The sum as a float in t1; there is no instruction that counts leading zeros. */
    private void result(AsmText asm) {
        asm.line("srai t0, s0, 31");
        asm.line("xor t1, s0, t0");
        asm.line("sub t1, t1, t0");
        asm.line("beqz t1, 7f");
        asm.line("lh t2, 4(a2)");
        asm.line("slli t0, t0, 31");
        asm.line("add t2, t2, s1");
        for (int bits = 16; bits > 0; bits /= 2) {
            asm.line("srli t3, t1, %d", Integer.SIZE - bits);
            asm.line("bnez t3, 2f");
            asm.line("slli t1, t1, %d", bits);
            asm.line("addi t2, t2, -%d", bits);
            asm.line("2:");
        }
        asm.line("li t3, %d", SoftProductKernel.MOST_FIELD);
        asm.line("bltu t3, t2, 8f");
        asm.line("slli t2, t2, 23");
        asm.line("srli t3, t1, 7");
        asm.line("andi t3, t3, 1");
        asm.line("srli t1, t1, 8");
        asm.line("add t1, t1, t2");
        asm.line("add t1, t1, t3");
        asm.line("or t1, t1, t0");
        asm.line("7:");
    }

    private void next(AsmText asm) {
        asm.line("bge t1, s4, 2f");
        asm.line("mv t1, s4");
        asm.line("2:");
        asm.line("bge s5, t1, 2f");
        asm.line("mv t1, s5");
        asm.line("2:");
        asm.line("sw t1, 0(a3)");
        asm.line("addi a3, a3, 4");
        asm.line("addi a2, a2, 8");
        asm.line("addi a1, a1, %d", Integer.BYTES * kernel.taps());
        asm.line("add s6, s6, a5");
        asm.line("addi t6, t6, -1");
        asm.line("bnez t6, 1b");
        asm.line("8:");
        asm.line("sw t6, 0(a4)");
        for (int i = 0; i < SAVED; i++) {
            asm.line("lw s%d, %d(sp)", i, kept(i));
        }
        asm.line("addi sp, sp, %d", frame());
        asm.line("ret");
    }
}
