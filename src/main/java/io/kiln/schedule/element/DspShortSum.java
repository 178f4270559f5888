// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Two elements at a time with DSP instructions. SMMLAR of a doubled value is the reference's first rounding and adds half of a step of the
 * second one; halves of negative values round away from zero, if one is subtracted from these. The last elements of the block come first, so
 * that the pointers move with the first ones.
 *
 * <pre>
 *   r0, r1, r2   exact side, other side, results     r3 elements left     r4, r5 multipliers     r6, r8 halves     r9 to r12 elements
 * </pre>
 *
 * @param sum without limits but those of int16
 * @param block elements of an iteration, 1 or an even number, of which the number of elements is a multiple
 */
record DspShortSum(ShortSum sum, int block) implements ShortSumKernel {
    private static final String CONDITION = "defined(__thumb__) && defined(__ARM_FEATURE_DSP)";

    @Override
    public String schedule() {
        return "dsp_sum16(shift=" + sum.outShift() + ", unroll=" + block + ")";
    }

    @Override
    public String reason() {
        return "one multiplication rounds";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line(".syntax unified");
        text.line("1:");
        int pair = Math.min(block, 2);
        for (int first = block - pair; first >= 0; first -= pair) {
            elements(text, first, pair);
        }
        text.line("subs r3, #%d", block);
        text.line("bne 1b");
        String assembly = "  (void)low;\n  (void)high;\n"
                + text.statement(
                        List.of(
                                "exact",
                                "other",
                                "out",
                                "count",
                                "by",
                                "out_by",
                                half(sum.shift()),
                                half(sum.outShift())),
                        List.of(
                                "const int16_t*",
                                "const int16_t*",
                                "int16_t*",
                                "int32_t",
                                "int32_t",
                                "int32_t",
                                "int32_t",
                                "int32_t"),
                        List.of("r9", "r10", "r11", "r12"));
        return ShortSumKernel.of("kiln_dsp_sum16_x" + block, sum, CONDITION, assembly);
    }

    private static String half(int shift) {
        return shift == 0 ? "0" : "1 << " + (shift - 1);
    }

    private void elements(AsmText text, int first, int count) {
        int last = first + count - 1;
        if (sum.shift() > 0) {
            each(first, last, i -> text.line("ldrsh %s, %s", other(i), place("r1", i)));
            each(first, last, i -> text.line("lsl %s, %s, #16", other(i), other(i)));
            each(first, last, i -> text.line("smmlar %s, %s, r4, r6", exact(i), other(i)));
            each(first, last, i -> text.line("add %s, %s, %s, asr #31", other(i), exact(i), other(i)));
            each(first, last, i -> text.line("ldrsh %s, %s", exact(i), place("r0", i)));
            each(first, last, i -> text.line("lsl %s, %s, #%d", exact(i), exact(i), ShortSum.EXACT_SHIFT));
            each(
                    first,
                    last,
                    i -> text.line("%s %s, %s, %s, asr #%d", operation(), exact(i), exact(i), other(i), sum.shift()));
            each(first, last, i -> text.line("lsl %s, %s, #1", exact(i), exact(i)));
        } else {
            each(first, last, i -> text.line("ldrsh %s, %s", other(i), place("r1", i)));
            each(first, last, i -> text.line("ldrsh %s, %s", exact(i), place("r0", i)));
            each(first, last, i -> text.line("%s %s, %s, %s", operation(), exact(i), exact(i), other(i)));
            each(first, last, i -> text.line("lsl %s, %s, #%d", exact(i), exact(i), ShortSum.EXACT_SHIFT + 1));
        }
        each(first, last, i -> text.line("smmlar %s, %s, r5, r8", other(i), exact(i)));
        each(first, last, i -> text.line("add %s, %s, %s, asr #31", other(i), other(i), exact(i)));
        each(first, last, i -> text.line("ssat %s, #16, %s, asr #%d", other(i), other(i), sum.outShift()));
        each(first, last, i -> text.line("strh %s, %s", other(i), place("r2", i)));
    }

    private String operation() {
        return sum.subtractsExact() ? "rsb" : sum.subtractsOther() ? "sub" : "add";
    }

    private static void each(int first, int last, IntConsumer instruction) {
        for (int i = last; i >= first; i--) {
            instruction.accept(i);
        }
    }

    private static String exact(int element) {
        return "r" + (9 + element % 2 * 2);
    }

    private static String other(int element) {
        return "r" + (10 + element % 2 * 2);
    }

    private String place(String pointer, int element) {
        return element == 0
                ? "[" + pointer + "], #" + Short.BYTES * block
                : "[" + pointer + ", #" + Short.BYTES * element + "]";
    }
}
