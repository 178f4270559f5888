// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.lower.SumKernels.Result;
import io.kiln.lower.SumKernels.Sums;
import io.kiln.schedule.parts.AsmText;
import java.util.function.Consumer;

/** Instructions that rescale two sums to two results: the operands are those of {@code dsp/rescale_sums.h}. */
final class DspRescaleText {
    private static final String[] BOTH = {"%[a]", "%[b]"};

    private DspRescaleText() {}

    /** For a shift to the left, if any, and one rounding. */
    static String left(Sums source, Result result, int unroll) {
        return loop(unroll, asm -> {
            asm.line("ldrd %[a], %[b], [%[sums]], #8");
            each(asm, "lsl R, R, %[shift]");
            multiply(asm, source);
            each(asm, "ssat R, #16, R");
            store(asm, result);
        });
    }

    /** For a shift to the right with a second rounding, the last bit of it apart. */
    static String right(Sums source, Result result, int unroll) {
        return loop(unroll, asm -> {
            asm.line("ldrd %[a], %[b], [%[sums]], #8");
            multiply(asm, source);
            each(asm, "add R, R, R, asr #31", "asr R, R, %[shift]", "add R, R, #1", "ssat R, #16, R, asr #1");
            store(asm, result);
        });
    }

    private static String loop(int unroll, Consumer<AsmText> pair) {
        AsmText asm = new AsmText();
        asm.line("1:");
        for (int i = 0; i < unroll; i++) {
            pair.accept(asm);
        }
        asm.line("subs %[steps], %[steps], #1");
        asm.line("bne 1b");
        return asm.lines();
    }

    private static void multiply(AsmText asm, Sums source) {
        if (source == Sums.DOTS) {
            each(asm, "smmulr R, R, %[m]");
        } else {
            each(
                    asm,
                    "smull %[low], %[high], R, %[m]",
                    "lsls %[low], %[low], #1",
                    "adc R, %[high], %[high]",
                    "add R, R, %[low], lsr #31");
        }
    }

    private static void store(AsmText asm, Result result) {
        if (result == Result.BYTE) {
            each(asm, "add R, R, %[zero]", "ssat R, #8, R", "strb R, [%[out]], #1");
        } else {
            asm.line("pkhbt %[a], %[a], %[b], lsl #16");
            if (result == Result.SHORT_ADDED) {
                asm.line("ldr %[b], [%[out]]");
                asm.line("qadd16 %[a], %[a], %[b]");
            }
            asm.line("str %[a], [%[out]], #4");
        }
    }

    /** Instructions for each of the two, R being its register. */
    private static void each(AsmText asm, String... instructions) {
        for (String register : BOTH) {
            for (String instruction : instructions) {
                asm.line(instruction.replaceAll("\\bR\\b", register));
            }
        }
    }
}
