// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * {@link SumsKernel} for Armv7-M with {@link WeightPairs} in sums of 32 bits: one pixel and eight channels, in two passes of four. A multiplication and
 * an addition of 32 bits take two cycles, those of 64 bits that {@link PairSumsThumb2} needs take four to seven. Two taps load together, because a
 * load right behind a load takes one cycle in place of two.
 *
 * <pre>
 * r0 r1    inputs, weights          r4 r5        sums of some products of two channels each
 * r2 r3    two inputs               r6 r8        sums of both channels
 * r10-lr   weights                  r7 r9        sums of second channels
 * stack    inputs, weights of the pass, its sums, passes left, callee-saved registers, end of the inputs
 * </pre>
 */
final class WordPairSumsThumb2 {
    /** Words of a tap in the table, and those of a pass. */
    private static final int WORDS = 4;

    private static final int WORDS_OF_PASS = 2;
    private static final List<String> INPUTS = List.of("r2", "r3");
    private static final List<String> WEIGHTS = List.of("r10", "r11", "r12", "lr");
    private static final int SUMS = 8;
    private static final int PASSES_LEFT = 12;

    /** Stack offset of the last argument, above the pushed registers; the end of the inputs takes its place. */
    private static final int TAPS = 52;

    private WordPairSumsThumb2() {}

    static String lines(WeightPairs pairs) {
        AsmText asm = new AsmText();
        asm.line("push {r0-r11, lr}");
        asm.line("ldr r2, [sp, #%d]", TAPS);
        asm.line("add r2, r0");
        asm.line("str r2, [sp, #%d]", TAPS);
        asm.line("mov r2, #%d", WORDS / WORDS_OF_PASS - 1);
        asm.line("str r2, [sp, #%d]", PASSES_LEFT);
        asm.line("2:");
        for (int i = 6; i < 6 + 2 * WORDS_OF_PASS; i++) {
            asm.line("mov r%d, #0", i);
        }
        asm.line("1:");
        int first = 0;
        for (int taps : pairs.parts()) {
            part(asm, pairs, first, taps);
            first += taps;
        }
        asm.line("add r0, r0, #%d", pairs.taps());
        asm.line("add r1, r1, #%d", 4 * WORDS * pairs.taps());
        asm.line("ldr r2, [sp, #%d]", TAPS);
        asm.line("cmp r0, r2");
        asm.line("bne 1b");
        asm.line("sub r6, r6, r7, lsl #%d", pairs.bits());
        asm.line("sub r8, r8, r9, lsl #%d", pairs.bits());
        asm.line("ldrd r2, r3, [sp, #%d]", SUMS);
        asm.line("stmia r2!, {r6-r9}");
        asm.line("subs r3, #1");
        asm.line("blt 3f");
        asm.line("strd r2, r3, [sp, #%d]", SUMS);
        asm.line("ldrd r0, r1, [sp]");
        asm.line("add r1, r1, #%d", 4 * WORDS_OF_PASS);
        asm.line("b 2b");
        asm.line("3:");
        asm.line("add sp, #16");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private static void part(AsmText asm, WeightPairs pairs, int first, int taps) {
        for (int tap = 0; tap < taps; tap += INPUTS.size()) {
            int together = Math.min(INPUTS.size(), taps - tap);
            for (int i = 0; i < together; i++) {
                asm.line("ldrsb %s, [r0, #%d]", INPUTS.get(i), first + tap + i);
            }
            for (int i = 0; i < together; i++) {
                for (int w = 0; w < WORDS_OF_PASS; w++) {
                    asm.line("ldr %s, [r1, #%d]", weight(i, w), 4 * (WORDS * (first + tap + i) + w));
                }
            }
            for (int i = 0; i < together; i++) {
                for (int w = 0; w < WORDS_OF_PASS; w++) {
                    int sum = 4 + w;
                    if (tap + i == 0) {
                        asm.line("mul r%d, %s, %s", sum, INPUTS.get(i), weight(i, w));
                    } else {
                        asm.line("mla r%d, %s, %s, r%d", sum, INPUTS.get(i), weight(i, w), sum);
                    }
                }
            }
        }
        for (int w = 0; w < WORDS_OF_PASS; w++) {
            takeOver(asm, pairs, 4 + w, 6 + 2 * w);
        }
    }

    private static String weight(int tap, int word) {
        return WEIGHTS.get(WORDS_OF_PASS * tap + word);
    }

    /** Adds sums of some products to those of both channels, and their upper half, rounded, to those of the second channel. */
    private static void takeOver(AsmText asm, WeightPairs pairs, int some, int both) {
        asm.line("add r2, r%d, #%d", some, 1 << (pairs.bits() - 1));
        asm.line("add r%d, r%d, r2, asr #%d", both + 1, both + 1, pairs.bits());
        asm.line("add r%d, r%d, r%d", both, both, some);
    }
}
