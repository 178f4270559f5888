// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import java.util.List;

/**
 * A channel of {@link ShortSum} on Armv6-M, whose other side is one element; see {@link Thumb1Shorts}.
 *
 * <pre>
 *   r0, r1   ends of the exact side and of the results     r2 offset     r3 elements from one to the next     r8 twice the other side
 * </pre>
 *
 * @param sum without limits but those of int16
 * @param step elements from one to the next
 */
record Thumb1ChannelSum(ShortSum sum, int step) implements ShortSumKernel {
    @Override
    public String schedule() {
        return "thumb_sum16_channel(shift=" + sum.outShift() + ")";
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
        text.line("mov r8, r4");
        text.line("adds r0, r0, r2");
        text.line("adds r1, r1, r2");
        text.line("rsbs r2, r2, #0");
        text.line("1:");
        text.line("ldrsh r4, [r0, r2]");
        text.line("lsls r4, r4, #%d", ShortSum.EXACT_SHIFT + 1);
        if (sum.subtractsExact()) {
            text.line("rsbs r4, r4, #0");
        }
        text.line("add r4, r8");
        Thumb1Shorts.result(text, sum, 0);
        text.line("strh r4, [r1, r2]");
        text.line("adds r2, r2, r3");
        text.line("bne 1b");
        text.line("b 3f");
        Thumb1Shorts.saturate(text, 0);
        text.line("3:");
        text.line("pop {r7}");
        int bytes = Short.BYTES * step;
        String assembly = "  (void)low;\n  (void)high;\n"
                + text.statement(
                        List.of(
                                "exact",
                                "out",
                                "count * " + bytes,
                                Integer.toString(bytes),
                                sum.subtractsOther() ? "-2 * right" : "2 * right",
                                "out_by"),
                        List.of("const int16_t*", "int16_t*", "int32_t", "int32_t", "int32_t", "int32_t"),
                        List.of("r6", "r8", "r10", "r11", "r12", "lr"));
        return ShortSumKernel.ofChannel("kiln_thumb_sum16", sum, step, AsmText.THUMB_1, assembly);
    }
}
