// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.element.ShortSum;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/**
 * A core's kernel for {@link ShortSum}: a loop in assembly, which is the same with every compiler, and its twin in C. Its arguments are
 * the exact side, the other one, the results, their number, the multipliers of the other side and of the sum, and the limits.
 */
sealed interface ShortSumKernel
        permits DspShortSum, MveShortSum, RiscVChannelSum, RiscVShortSum, Thumb1ChannelSum, Thumb1ShortSum {
    /** Number of elements, both multipliers, both limits. */
    int SCALARS = 5;

    /** Name of the schedule. */
    String schedule();

    /** Why the schedule was chosen. */
    String reason();

    Kernel kernel();

    /**
     * The kernel of a text.
     *
     * @param prefix of its C name
     * @param sum what it computes
     * @param condition of the preprocessor for the assembly
     * @param assembly statements of C
     */
    static Kernel of(String prefix, ShortSum sum, String condition, String assembly) {
        String name = prefix + suffix(sum);
        KernelText text = common("portable/sum_of_shorts", name, sum, condition, assembly);
        return kernel(name, text.with("RIGHT", right(sum)), SCALARS);
    }

    /**
     * The kernel for pixels: one side is a vector of channels. Between the number of channels and the multipliers, it takes the number of
     * pixels. The assembly computes a pixel, from {@code x} and {@code y} to {@code z}.
     *
     * @param isExactVector whether the vector is the exact side
     */
    static Kernel ofPixels(String prefix, ShortSum sum, boolean isExactVector, String condition, String assembly) {
        String name = prefix + suffix(sum) + (isExactVector ? "_exact_vector" : "_vector");
        KernelText text = common("portable/sum_of_pixels", name, sum, condition, assembly)
                .with("RIGHT", right(sum))
                .with("EXACT_STEP", isExactVector ? 0 : 1)
                .with("OTHER_STEP", isExactVector ? 1 : 0);
        return kernel(name, text, SCALARS + 1);
    }

    /** The other side's product rounded by its shift; a multiplier of one half makes a product of exactly 2^14 for each unit. */
    private static String right(ShortSum sum) {
        int shift = sum.shift();
        return shift == 0 ? "(x)" : "((x + (1 << " + (shift - 1) + ") + (x >> 31)) >> " + shift + ")";
    }

    /**
     * The kernel for one channel: the other side is a single element, {@code right} in the assembly.
     *
     * @param step elements from one to the next
     */
    static Kernel ofChannel(String prefix, ShortSum sum, int step, String condition, String assembly) {
        String right = sum.shift() == 0 ? "(x * 16384)" : "kiln_rescale_small(x * 32768, by, " + sum.shift() + ")";
        String name = prefix + suffix(sum) + "_by_" + step;
        KernelText text = common("portable/sum_of_channel", name, sum, condition, assembly)
                .with("RIGHT", right)
                .with("STEP", step);
        return kernel(name, text, SCALARS, Intrinsics.RESCALE_SMALL);
    }

    private static KernelText common(String file, String name, ShortSum sum, String condition, String assembly) {
        return KernelText.of(file)
                .with("NAME", name)
                .with("SHIFT", sum.outShift())
                .with(
                        "SUM",
                        sum.subtractsExact() ? "(right - x)" : sum.subtractsOther() ? "(x - right)" : "(x + right)")
                .with("CONDITION", condition)
                .with("ASSEMBLY", assembly);
    }

    private static Kernel kernel(String name, KernelText text, int scalars, Intrinsic... uses) {
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT16), Pointer.in(DType.INT16), Pointer.out(DType.INT16)),
                Collections.nCopies(scalars, DType.INT32),
                List.of(),
                text.text(),
                List.of(uses));
    }

    private static String suffix(ShortSum sum) {
        String operation = sum.subtractsExact() ? "_from" : sum.subtractsOther() ? "_less" : "_plus";
        return operation + "_" + sum.shift() + "_" + sum.outShift() + (sum.hasLimits() ? "_l" : "");
    }
}
