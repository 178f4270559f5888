// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.soft;

import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * The sums of {@link SoftKernel} for RV32IM, for cores whose multiplier takes several cycles and one product at a time: the upper words of eight taps' products
 * are added in 32 bits, then to sums of 64. Weights are loaded and shifted, and products added, while others are multiplied.
 *
 * <pre>
 * a0  inputs     a2  sums in memory         a4 a5     inputs in turn              t2 t3        products in turn
 * a1  weights    a3  end of the inputs      t0 t1     weights in turn             t4 t5 t6 s8  sums of eight taps      s0 to s7  sums of 64 bits
 * </pre>
 *
 * @param channels at most 4
 * @param unroll taps in the loop, a multiple of eight
 */
record SoftRiscV(int channels, int unroll) {
    /** Taps whose sums fit 32 bits. */
    static final int TAPS = 8;

    private static final int FRAME = 48;
    private static final int SAVED = 9;
    private static final List<String> PARTS = List.of("t4", "t5", "t6", "s8");

    String lines() {
        AsmText asm = new AsmText();
        asm.line("addi sp, sp, -%d", FRAME);
        for (int i = 0; i < SAVED; i++) {
            asm.line("sw s%d, %d(sp)", i, Integer.BYTES * i);
        }
        asm.line("slli a3, a3, 2");
        asm.line("add a3, a3, a0");
        for (int i = 0; i < 2 * channels; i++) {
            asm.line("li s%d, 0", i);
        }
        asm.line("1:");
        for (int tap = 0; tap < unroll; tap += TAPS) {
            taps(asm, tap);
        }
        asm.line("addi a0, a0, %d", Integer.BYTES * unroll);
        asm.line("addi a1, a1, %d", Integer.BYTES * unroll * channels);
        asm.line("bne a0, a3, 1b");
        for (int i = 0; i < 2 * channels; i++) {
            asm.line("sw s%d, %d(a2)", i, Integer.BYTES * i);
        }
        for (int i = 0; i < SAVED; i++) {
            asm.line("lw s%d, %d(sp)", i, Integer.BYTES * i);
        }
        asm.line("addi sp, sp, %d", FRAME);
        asm.line("ret");
        return asm.lines();
    }

    private void taps(AsmText asm, int first) {
        int products = TAPS * channels;
        input(asm, first);
        weight(asm, first, 0);
        for (int i = 0; i < products; i++) {
            int tap = i / channels;
            asm.line("mulh %s, %s, %s", tap == 0 ? PARTS.get(i) : product(i), input(tap), weight(i));
            if (i % channels == 0 && tap + 1 < TAPS) {
                input(asm, first + tap + 1);
            }
            if (i + 1 < products) {
                weight(asm, first, i + 1);
            }
            add(asm, i - 1);
        }
        add(asm, products - 1);
    }

    private static void input(AsmText asm, int tap) {
        asm.line("lw %s, %d(a0)", input(tap), Integer.BYTES * tap);
    }

    private static String input(int tap) {
        return "a" + (4 + tap % 2);
    }

    private void weight(AsmText asm, int first, int index) {
        asm.line("lw %s, %d(a1)", weight(index), Integer.BYTES * (first * channels + index));
        asm.line("sra %1, %1, %1".replace("%1", weight(index)));
    }

    private static String weight(int index) {
        return index % 2 == 0 ? "t0" : "t1";
    }

    private static String product(int index) {
        return index % 2 == 0 ? "t2" : "t3";
    }

    /** Adds a product to those of its channel, and after the last one all to the channel's sum. */
    private void add(AsmText asm, int index) {
        if (index < channels) {
            return;
        }
        int channel = index % channels;
        String part = PARTS.get(channel);
        asm.line("add %s, %s, %s", part, part, product(index));
        if (index / channels == TAPS - 1) {
            int low = 2 * channel;
            asm.line("add s%d, s%d, %s", low, low, part);
            asm.line("sltu %s, s%d, %s", product(index), low, part);
            asm.line("srai %s, %s, 31", part, part);
            asm.line("add %s, %s, %s", part, part, product(index));
            asm.line("add s%d, s%d, %s", low + 1, low + 1, part);
        }
    }
}
