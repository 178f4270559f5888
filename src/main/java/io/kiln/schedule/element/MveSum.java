// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ProvenSum;
import io.kiln.schedule.mve.MveText;
import io.kiln.tir.Kernel;
import java.util.Locale;

/**
 * Four elements at a time by MVE.
 *
 * <pre>
 *   q0, q1   elements of both sides, widened to 32 bits     q2 factor of the left side
 *   VMLAS    q0 = q0 * q2 + offset      VMLA q0 += q1 * factor of the right side      VSHR      narrowing with saturation
 * </pre>
 */
record MveSum(ProvenSum sum) implements SumKernel {
    @Override
    public String schedule() {
        return "mve_sum(shift=" + sum.shift() + ")";
    }

    @Override
    public String reason() {
        return "one multiplication for each side (MVE)";
    }

    @Override
    public Kernel kernel() {
        boolean limits = SumKernel.hasLimits(sum);
        String name = "kiln_mve_sum_" + sum.shift() + (limits ? "_l" : "");
        String limit = limits ? "vmax.s32 q0, q0, q3\nvmin.s32 q0, q0, q4\n" : "vqmovnb.s16 q0, q0\n";
        String loop = String.format(
                Locale.ROOT, """
                vdup.32 q2, %%[lhs_by]
                %swlstp.32 lr, %%[count], 2f
                1:
                vldrb.s32 q0, [%%[lhs]], #4
                vmlas.s32 q0, q2, %%[offset]
                vldrb.s32 q1, [%%[rhs]], #4
                vmla.s32 q0, q1, %%[rhs_by]
                vshr.s32 q0, q0, #%d
                %svstrb.32 q0, [%%[out]], #4
                letp lr, 1b
                2:
                """, limits ? "vdup.32 q3, %[low]\nvdup.32 q4, %[high]\n" : "", sum.shift(), limit);
        String limitOperands = limits ? ", [low] \"r\"(low), [high] \"r\"(high)" : "";
        String assembly = (limits ? "" : "  (void)low;\n  (void)high;\n")
                + "  __asm__ volatile(\n"
                + MveText.lines(loop)
                + "      : [lhs] \"+l\"(lhs), [rhs] \"+l\"(rhs), [out] \"+l\"(out)\n"
                + "      : [count] \"r\"(count), [lhs_by] \"r\"(lhs_by), [rhs_by] \"r\"(rhs_by), [offset] \"r\"(offset)"
                + limitOperands
                + "\n      : \"lr\", \"q0\", \"q1\", \"q2\", "
                + (limits ? "\"q3\", \"q4\", " : "")
                + "\"cc\", \"memory\");\n";
        return SumKernel.of(name, sum, "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)", assembly);
    }
}
