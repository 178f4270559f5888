// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ShortSum;
import io.kiln.schedule.mve.MveText;
import io.kiln.tir.Kernel;
import java.util.Locale;

/**
 * Four elements at a time by MVE. VQRDMULH is the reference's first rounding, VRSHR the second one, which rounds halves of negative values
 * away from zero if one is subtracted from these before. Multiplications by powers of two are not shifts, because another pipeline makes
 * them meanwhile.
 *
 * <pre>
 *   q0, q1   the exact side and the other one, widened to 32 bits     q2 -1 for negative values     q3, q4 limits
 * </pre>
 *
 * @param sum what it computes
 * @param vector which side is a vector of channels, the same for every pixel
 */
record MveShortSum(ShortSum sum, Vector vector) implements ShortSumKernel {
    /** Which side is a vector of channels. */
    enum Vector {
        NONE,
        EXACT,
        OTHER
    }

    private static final String CONDITION = "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)";

    @Override
    public String schedule() {
        return "mve_sum16(shift=" + sum.outShift() + ")";
    }

    @Override
    public String reason() {
        return "the reference's two roundings are one instruction each (MVE)";
    }

    @Override
    public Kernel kernel() {
        boolean limits = sum.hasLimits();
        StringBuilder loop = new StringBuilder();
        loop.append(limits ? "vdup.32 q3, %[low]\nvdup.32 q4, %[high]\n" : "");
        loop.append("wlstp.32 lr, %[count], 2f\n1:\n");
        loop.append("vldrh.s32 q1, [%[other]], #8\n");
        loop.append("vmul.i32 q1, q1, %[scale]\n");
        loop.append("vldrh.s32 q0, [%[exact]], #8\n");
        if (sum.shift() > 0) {
            loop.append(rescaled(1, "by", sum.shift()));
        }
        loop.append(String.format(Locale.ROOT, "vshl.i32 q0, q0, #%d\n", ShortSum.EXACT_SHIFT));
        loop.append(
                sum.subtractsExact()
                        ? "vsub.i32 q0, q1, q0\n"
                        : sum.subtractsOther() ? "vsub.i32 q0, q0, q1\n" : "vadd.i32 q0, q0, q1\n");
        loop.append(rescaled(0, "out_by", sum.outShift()));
        loop.append(limits ? "vmax.s32 q0, q0, q3\nvmin.s32 q0, q0, q4\n" : "vqmovnb.s32 q0, q0\n");
        loop.append("vstrh.32 q0, [%[out]], #8\nletp lr, 1b\n2:\n");
        String unused = (limits ? "" : "  (void)low;\n  (void)high;\n")
                + (sum.shift() == 0 && vector == Vector.NONE ? "  (void)by;\n" : "");
        String statement = unused
                + "  __asm__ volatile(\n"
                + MveText.lines(loop.toString())
                + (vector == Vector.NONE
                        ? "      : [exact] \"+l\"(exact), [other] \"+l\"(other), [out] \"+l\"(out)\n"
                        : "      : [exact] \"+l\"(x), [other] \"+l\"(y), [out] \"+l\"(z)\n")
                + "      : [count] \"r\"(count), [scale] \"r\"("
                + (1 << (sum.shift() == 0 ? ShortSum.EXACT_SHIFT : ShortSum.EXACT_SHIFT + 1))
                + "), [out_by] \"r\"(out_by)"
                + (sum.shift() == 0 ? "" : ", [by] \"r\"(by)")
                + (limits ? ", [low] \"r\"(low), [high] \"r\"(high)" : "")
                + "\n      : \"lr\", \"q0\", \"q1\", \"q2\", "
                + (limits ? "\"q3\", \"q4\", " : "")
                + "\"cc\", \"memory\");\n";
        return vector == Vector.NONE
                ? ShortSumKernel.of("kiln_mve_sum16", sum, CONDITION, statement)
                : ShortSumKernel.ofPixels("kiln_mve_sum16", sum, vector == Vector.EXACT, CONDITION, statement);
    }

    private static String rescaled(int q, String by, int shift) {
        return String.format(Locale.ROOT, """
            vqrdmulh.s32 q%1$d, q%1$d, %%[%2$s]
            vshr.s32 q2, q%1$d, #31
            vadd.i32 q%1$d, q%1$d, q2
            vrshr.s32 q%1$d, q%1$d, #%3$d
            """, q, by, shift);
    }
}
