// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * {@link ShortSum} on Armv6-M, see {@link Thumb1Shorts}. Loads extend signs only with an offset in a register: the pointers stand behind the
 * elements, and the offset rises to zero.
 *
 * <pre>
 *   r0, r1, r2   ends of the exact side, the other one and the results     r3 offset     r8, r9 halves of the other side's multiplier
 * </pre>
 *
 * @param sum without limits but those of int16
 */
record Thumb1ShortSum(ShortSum sum) implements ShortSumKernel {
    @Override
    public String schedule() {
        return "thumb_sum16(shift=" + sum.outShift() + ")";
    }

    @Override
    public String reason() {
        return "halves of constants stay in registers";
    }

    @Override
    public Kernel kernel() {
        AsmText text = new AsmText();
        text.line(".syntax unified");
        text.line("push {r7}");
        Thumb1Shorts.enter(text, sum);
        text.line("uxth r6, r4");
        text.line("mov r8, r6");
        text.line("asrs r4, r4, #16");
        text.line("mov r9, r4");
        text.line("lsls r3, r3, #1");
        for (String pointer : List.of("r0", "r1", "r2")) {
            text.line("adds %s, %s, r3", pointer, pointer);
        }
        text.line("rsbs r3, r3, #0");
        text.line("1:");
        element(text);
        text.line("adds r3, #2");
        text.line("bne 1b");
        text.line("b 3f");
        Thumb1Shorts.saturate(text, 0);
        text.line("3:");
        text.line("pop {r7}");
        String assembly = "  (void)low;\n  (void)high;\n"
                + text.statement(
                        List.of("exact", "other", "out", "count", "by", "out_by"),
                        List.of("const int16_t*", "const int16_t*", "int16_t*", "int32_t", "int32_t", "int32_t"),
                        List.of("r6", "r8", "r9", "r10", "r11", "r12", "lr"));
        return ShortSumKernel.of("kiln_thumb_sum16", sum, AsmText.THUMB_1, assembly);
    }

    private void element(AsmText text) {
        text.line("ldrsh r4, [r1, r3]");
        if (sum.shift() == 0) {
            text.line("lsls r5, r4, #%d", ShortSum.EXACT_SHIFT);
        } else {
            text.line("mov r5, r8");
            text.line("muls r5, r4");
            text.line("add r5, lr");
            text.line("asrs r5, r5, #16");
            text.line("mov r6, r9");
            text.line("muls r6, r4");
            text.line("adds r5, r5, r6");
            text.line("asrs r4, r4, #31");
            text.line("adds r5, r5, r4");
            if (sum.shift() > 1) {
                text.line("asrs r5, r5, #%d", sum.shift() - 1);
            }
            text.line("adds r5, #1");
            text.line("asrs r5, r5, #1");
        }
        text.line("ldrsh r4, [r0, r3]");
        text.line("lsls r4, r4, #%d", ShortSum.EXACT_SHIFT);
        String operation =
                sum.subtractsExact() ? "subs r4, r5, r4" : sum.subtractsOther() ? "subs r4, r4, r5" : "adds r4, r4, r5";
        text.line(operation);
        text.line("lsls r4, r4, #1");
        Thumb1Shorts.result(text, sum, 0);
        text.line("strh r4, [r2, r3]");
    }
}
