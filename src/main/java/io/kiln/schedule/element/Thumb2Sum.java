// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.base.DType;
import io.kiln.lower.element.ProvenSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * Two elements at a time on Armv7-M and later. SSAT shifts what it saturates. Loads behind other accesses take a cycle less on a
 * Cortex-M4; the last elements of the block come first, so that the pointers move with the first ones.
 *
 * <pre>
 *   r0, r1, r2   both sides, results     r3 elements left     r4, r5 factors     r6 offset     r8 to r11 elements
 * </pre>
 *
 * @param sum what it computes
 * @param block elements of an iteration, 1 or an even number, of which the number of elements is a multiple
 */
record Thumb2Sum(ProvenSum sum, int block) implements SumKernel {
    @Override
    public String schedule() {
        return "thumb_sum(shift=" + sum.shift() + ", unroll=" + block + ")";
    }

    @Override
    public String reason() {
        return "one multiplication for each side";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line(".syntax unified");
        text.line("1:");
        int pair = Math.min(block, 2);
        for (int first = block - pair; first >= 0; first -= pair) {
            for (int i = first + pair - 1; i >= first; i--) {
                text.line("ldrsb r%d, %s", left(i), place("r0", i));
                text.line("ldrsb r%d, %s", right(i), place("r1", i));
            }
            for (int i = first + pair - 1; i >= first; i--) {
                text.line("mla r%d, r%d, r4, r6", left(i), left(i));
            }
            for (int i = first + pair - 1; i >= first; i--) {
                text.line("mla r%d, r%d, r5, r%d", left(i), right(i), left(i));
            }
            for (int i = first + pair - 1; i >= first; i--) {
                text.line("ssat r%d, #8, r%d, asr #%d", left(i), left(i), sum.shift());
                limit(text, left(i));
            }
            for (int i = first + pair - 1; i >= first; i--) {
                text.line("strb r%d, %s", left(i), place("r2", i));
            }
        }
        text.line("subs r3, #%d", block);
        text.line("bne 1b");
        String assembly = "  (void)low;\n  (void)high;\n"
                + text.statement(
                        List.of("lhs", "rhs", "out", "count", "lhs_by", "rhs_by", "offset"),
                        List.of(
                                "const int8_t*",
                                "const int8_t*",
                                "int8_t*",
                                "int32_t",
                                "int32_t",
                                "int32_t",
                                "int32_t"),
                        List.of("r8", "r9", "r10", "r11"));
        return SumKernel.of(name(), sum, AsmText.THUMB_2, assembly);
    }

    private String name() {
        String name = "kiln_thumb_sum_" + sum.shift() + "_x" + block;
        long least = DType.INT8.min();
        return SumKernel.hasLimits(sum) ? name + "_from_" + (sum.low() - least) + "_to_" + (sum.high() - least) : name;
    }

    private void limit(AsmText text, int register) {
        if (sum.low() > DType.INT8.min()) {
            text.line("cmp r%d, #%d", register, sum.low());
            text.line("it lt");
            text.line("movlt r%d, #%d", register, sum.low());
        }
        if (sum.high() < DType.INT8.max()) {
            text.line("cmp r%d, #%d", register, sum.high());
            text.line("it gt");
            text.line("movgt r%d, #%d", register, sum.high());
        }
    }

    private static int left(int element) {
        return 8 + element % 2 * 2;
    }

    private static int right(int element) {
        return 9 + element % 2 * 2;
    }

    private String place(String pointer, int element) {
        return element == 0 ? "[" + pointer + "], #" + block : "[" + pointer + ", #" + element + "]";
    }
}
