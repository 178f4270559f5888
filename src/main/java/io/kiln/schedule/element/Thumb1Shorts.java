// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.parts.AsmText;

/**
 * Lines of the kernels for {@link ShortSum} on Armv6-M, whose multiplication has no upper half: halves are multiplied by halves, and no sum
 * leaves 32 bits. Sums that saturate are few; they leave the loop and come back.
 *
 * <pre>
 *   r4, r5     twice a sum, its result     r10       half of the result's step
 *   r6, r7     products                    r11, r12  lower and upper half of the sum's multiplier     lr  32,768
 * </pre>
 */
final class Thumb1Shorts {
    private Thumb1Shorts() {}

    /** Lines before the loop. The sum's multiplier is in r5. */
    static void enter(AsmText text, ShortSum sum) {
        text.line("uxth r6, r5");
        text.line("mov r11, r6");
        text.line("asrs r5, r5, #16");
        text.line("mov r12, r5");
        text.line("movs r6, #128");
        text.line("lsls r6, r6, #8");
        text.line("mov lr, r6");
        text.line("movs r6, #1");
        text.line("lsls r6, r6, #%d", sum.outShift() - 1);
        text.line("mov r10, r6");
    }

    /** The result of twice a sum in r4, in r4. */
    static void result(AsmText text, ShortSum sum, int element) {
        text.line("asrs r5, r4, #16");
        text.line("uxth r4, r4");
        text.line("mov r6, r11");
        text.line("movs r7, r4");
        text.line("muls r7, r6");
        text.line("lsrs r7, r7, #16");
        text.line("muls r6, r5");
        text.line("adds r6, r6, r7");
        text.line("mov r7, r12");
        text.line("muls r4, r7");
        text.line("muls r5, r7");
        text.line("asrs r7, r6, #16");
        text.line("adds r5, r5, r7");
        text.line("uxth r6, r6");
        text.line("adds r4, r4, r6");
        text.line("add r4, lr");
        text.line("lsrs r4, r4, #16");
        text.line("adds r5, r5, r4");
        text.line("asrs r4, r5, #31");
        text.line("adds r5, r5, r4");
        text.line("add r5, r10");
        text.line("asrs r5, r5, #%d", sum.outShift());
        text.line("sxth r4, r5");
        text.line("cmp r4, r5");
        text.line("bne 1%df", element);
        text.line("2%d:", element);
    }

    /** The limit of the result's sign. */
    static void saturate(AsmText text, int element) {
        text.line("1%d:", element);
        text.line("asrs r5, r5, #31");
        text.line("mvns r4, r5");
        text.line("lsrs r4, r4, #16");
        text.line("mov r5, lr");
        text.line("subs r4, r4, r5");
        text.line("b 2%db", element);
    }
}
