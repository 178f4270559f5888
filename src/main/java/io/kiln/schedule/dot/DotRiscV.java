// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * {@link PlainDotKernel} for RV32IM, for cores whose multiplier takes several cycles and one product at a time: inputs and weights are loaded,
 * and products added, while others are multiplied. The taps left over by unrolled steps are summed before the loop.
 *
 * <pre>
 * a0 a1  inputs of the pixels     a5 a6 a7 t0  the inputs of two taps in turn      t3 t4        products in turn
 * a2     weights                  t1 t2        weights in turn                     t5 t6 s0-s5  sums, by pixel, then by channel
 * a3     sums in memory           a4           end of the inputs
 * </pre>
 *
 * @param pixels 1 or 2
 * @param channels at most 4
 * @param unroll steps in the loop, a power of two
 */
record DotRiscV(int pixels, int channels, int unroll) {
    /** Steps in the loop for speed. */
    static final int UNROLL = 4;

    private static final int FRAME = 32;
    private static final List<String> SAVED = List.of("s0", "s1", "s2", "s3", "s4", "s5");
    private static final List<String> SUMS = List.of("t5", "t6", "s0", "s1", "s2", "s3", "s4", "s5");
    private static final List<String> INPUTS = List.of("a5", "a6", "a7", "t0");

    String lines() {
        AsmText asm = new AsmText();
        enter(asm);
        asm.line("1:");
        asm.line("sub t3, a4, a0");
        asm.line("andi t3, t3, %d", Short.BYTES * (unroll - 1));
        asm.line("beqz t3, 2f");
        taps(asm, 1);
        asm.line("j 1b");
        asm.line("2:");
        asm.line("beq a0, a4, 4f");
        asm.line("3:");
        taps(asm, unroll);
        asm.line("bne a0, a4, 3b");
        asm.line("4:");
        for (int i = 0; i < PlainDotKernel.CHANNELS * pixels; i++) {
            asm.line("sw %s, %d(a3)", SUMS.get(i), Integer.BYTES * i);
        }
        for (int i = 0; i < SAVED.size(); i++) {
            asm.line("lw %s, %d(sp)", SAVED.get(i), Integer.BYTES * i);
        }
        asm.line("addi sp, sp, %d", FRAME);
        asm.line("ret");
        return asm.lines();
    }

    private void enter(AsmText asm) {
        asm.line("addi sp, sp, -%d", FRAME);
        for (int i = 0; i < SAVED.size(); i++) {
            asm.line("sw %s, %d(sp)", SAVED.get(i), Integer.BYTES * i);
        }
        if (pixels == 1) {
            asm.line("mv a4, a3");
            asm.line("mv a3, a2");
            asm.line("mv a2, a1");
        }
        asm.line("slli a4, a4, 1");
        asm.line("add a4, a4, a0");
        for (int i = 0; i < PlainDotKernel.CHANNELS * pixels; i++) {
            asm.line("lw %s, %d(a3)", SUMS.get(i), Integer.BYTES * i);
        }
    }

    /** Products of some taps, and the addition of each behind the multiplication of the next. */
    private void taps(AsmText asm, int taps) {
        inputs(asm, 0);
        weight(asm, 0);
        int products = taps * channels * pixels;
        for (int i = 0; i < products; i++) {
            int block = i / pixels;
            int tap = block / channels;
            int pixel = i % pixels;
            asm.line("mul %s, %s, %s", product(i), input(tap, pixel), weightRegister(block));
            if (pixel == 0 && block + 1 < taps * channels) {
                weight(asm, block + 1);
            }
            if (pixel == 0 && block % channels == 0 && tap + 1 < taps) {
                inputs(asm, tap + 1);
            }
            if (i > 0) {
                add(asm, i - 1);
            }
        }
        for (int p = 0; p < pixels; p++) {
            asm.line("addi a%d, a%d, %d", p, p, Short.BYTES * taps);
        }
        asm.line("addi a2, a2, %d", PlainDotKernel.CHANNELS * taps);
        add(asm, products - 1);
    }

    private void inputs(AsmText asm, int tap) {
        for (int p = 0; p < pixels; p++) {
            asm.line("lh %s, %d(a%d)", input(tap, p), Short.BYTES * tap, p);
        }
    }

    private static String input(int tap, int pixel) {
        return INPUTS.get(tap % 2 * 2 + pixel);
    }

    /** The weight of a channel and tap, counted through all of them. */
    private void weight(AsmText asm, int block) {
        int place = block / channels * PlainDotKernel.CHANNELS + block % channels;
        asm.line("lb %s, %d(a2)", weightRegister(block), place);
    }

    private static String weightRegister(int block) {
        return block % 2 == 0 ? "t1" : "t2";
    }

    private static String product(int index) {
        return index % 2 == 0 ? "t3" : "t4";
    }

    private void add(AsmText asm, int index) {
        int channel = index / pixels % channels;
        String sum = SUMS.get(index % pixels * PlainDotKernel.CHANNELS + channel);
        asm.line("add %s, %s, %s", sum, sum, product(index));
    }
}
