// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * {@link SumsKernel} for RV32IM with {@link WeightPairs}: one pixel and eight channels. Some products are added in one register for two
 * channels; then its upper half, rounded, is added to the sum of the second channel, and all of it, without its overflow, to another sum, which
 * in the end gives that of the first channel.
 *
 * <pre>
 * a0 a1 a4  inputs, weights, end of the inputs     a3 t5 t6  an input, a product, half of a second weight's unit
 * t0 to t3  sums of some products                  a5 to t4  weights
 * s0 to s3  sums of second channels                s4 to s7  sums of both
 * </pre>
 */
final class PairSumsRiscV {
    static final int CHANNELS = 8;
    private static final List<String> SHORT = List.of("t0", "t1", "t2", "t3");
    private static final List<String> WEIGHTS = List.of("a5", "a6", "a7", "t4");
    private static final int FRAME = 32;

    private PairSumsRiscV() {}

    static String lines(WeightPairs pairs) {
        AsmText asm = new AsmText();
        asm.line("addi sp, sp, -%d", FRAME);
        for (int i = 0; i < CHANNELS; i++) {
            asm.line("sw s%d, %d(sp)", i, 4 * i);
        }
        for (int i = 0; i < CHANNELS; i++) {
            asm.line("li s%d, 0", i);
        }
        asm.line("li t6, %d", 1 << (pairs.bits() - 1));
        asm.line("add a4, a4, a0");
        asm.line("1:");
        int first = 0;
        for (int taps : pairs.parts()) {
            part(asm, pairs, first, taps);
            first += taps;
        }
        asm.line("addi a0, a0, %d", pairs.taps());
        asm.line("addi a1, a1, %d", 4 * SHORT.size() * pairs.taps());
        asm.line("bne a0, a4, 1b");
        for (int i = 0; i < SHORT.size(); i++) {
            asm.line("slli t5, s%d, %d", i, pairs.bits());
            asm.line("sub s%d, s%d, t5", 4 + i, 4 + i);
            asm.line("sw s%d, %d(a2)", 4 + i, 8 * i);
            asm.line("sw s%d, %d(a2)", i, 8 * i + 4);
        }
        for (int i = 0; i < CHANNELS; i++) {
            asm.line("lw s%d, %d(sp)", i, 4 * i);
        }
        asm.line("addi sp, sp, %d", FRAME);
        asm.line("ret");
        return asm.lines();
    }

    private static void part(AsmText asm, WeightPairs pairs, int first, int taps) {
        for (int tap = 0; tap < taps; tap++) {
            asm.line("lb a3, %d(a0)", first + tap);
            for (int i = 0; i < SHORT.size(); i++) {
                asm.line("lw %s, %d(a1)", WEIGHTS.get(i), 4 * (SHORT.size() * (first + tap) + i));
            }
            for (int i = 0; i < SHORT.size(); i++) {
                asm.line("mul %s, a3, %s", tap == 0 ? SHORT.get(i) : "t5", WEIGHTS.get(i));
                if (tap > 0) {
                    asm.line("add %s, %s, t5", SHORT.get(i), SHORT.get(i));
                }
            }
        }
        for (int i = 0; i < SHORT.size(); i++) {
            takeOver(asm, pairs, new Sums(SHORT.get(i), "s" + i, "s" + (4 + i)), "t5", "t6");
        }
    }

    /**
     * Registers of two channels.
     *
     * @param some sums of some products of both
     * @param second sum of the second channel
     * @param both sum of both, without its overflow
     */
    record Sums(String some, String second, String both) {}

    /** Adds the sums of some products to those of all. */
    static void takeOver(AsmText asm, WeightPairs pairs, Sums sums, String spare, String half) {
        asm.line("add %s, %s, %s", spare, sums.some, half);
        asm.line("srai %s, %s, %d", spare, spare, pairs.bits());
        asm.line("add %s, %s, %s", sums.second, sums.second, spare);
        asm.line("add %s, %s, %s", sums.both, sums.both, sums.some);
    }
}
