// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ProvenSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * One element after the other on Armv6-M, whose loads extend signs only with an offset in a register: the pointers stand behind the
 * elements, and the offset rises to zero. Sums that saturate are few; they leave the loop and come back.
 *
 * <pre>
 *   r0, r1, r2   ends of both sides and of the results      r3 offset of an element      r4, r5 elements
 *   r6, r7       factors                                    r8 offset of the sum
 * </pre>
 *
 * @param sum without limits but those of int8
 * @param block elements of an iteration, of which the number of elements is a multiple
 */
record Thumb1Sum(ProvenSum sum, int block) implements SumKernel {
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
        text.line("push {r7}");
        text.line("mov r8, r6");
        text.line("movs r6, r4");
        text.line("movs r7, r5");
        text.line("add r0, r3");
        text.line("add r1, r3");
        text.line("add r2, r3");
        text.line("rsbs r3, r3, #0");
        text.line("1:");
        for (int i = 0; i < block; i++) {
            element(text, i);
        }
        text.line("bne 1b");
        text.line("b 3f");
        for (int i = 0; i < block; i++) {
            saturate(text, i);
        }
        text.line("3:");
        text.line("pop {r7}");
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
                        List.of("r8"));
        return SumKernel.of("kiln_thumb_sum_" + sum.shift() + "_x" + block, sum, AsmText.THUMB_1, assembly);
    }

    private void element(AsmText text, int i) {
        text.line("ldrsb r4, [r0, r3]");
        text.line("ldrsb r5, [r1, r3]");
        text.line("muls r4, r6");
        text.line("muls r5, r7");
        text.line("add r4, r8");
        text.line("adds r4, r5");
        text.line("asrs r4, #%d", sum.shift());
        text.line("sxtb r5, r4");
        text.line("cmp r4, r5");
        text.line("bne 1%df", i);
        text.line("2%d:", i);
        text.line("strb r5, [r2, r3]");
        text.line("adds r3, #1");
    }

    /** The limit of the element's sign. */
    private static void saturate(AsmText text, int i) {
        text.line("1%d:", i);
        text.line("asrs r4, #31");
        text.line("mvns r4, r4");
        text.line("lsrs r5, r4, #24");
        text.line("subs r5, #128");
        text.line("b 2%db", i);
    }
}
