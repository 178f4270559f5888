// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.lower.element.ProvenSlopes;
import io.kiln.schedule.mve.MveText;
import io.kiln.tir.Kernel;
import java.util.Locale;

/**
 * Four elements at a time by MVE.
 *
 * <pre>
 *   q0       elements, widened to 32 bits     q1 what their signs select
 *   q2, q3   multipliers of values from 0 on and below 0     q4, q5 offsets, if they differ
 * </pre>
 */
record MveSlopes(ProvenSlopes slopes) implements SlopesKernel {
    @Override
    public String schedule() {
        return "mve_slopes(shift=" + slopes.shift() + ")";
    }

    @Override
    public Kernel kernel() {
        boolean isOne = slopes.hasOneOffset();
        String loop = String.format(
                Locale.ROOT,
                """
                vdup.32 q2, %%[by]
                vdup.32 q3, %%[below]
                %swlstp.32 lr, %%[count], 2f
                1:
                vldrh.s32 q0, [%%[in]], #8
                vcmp.s32 lt, q0, zr
                vpsel q1, q3, q2
                vshl.i32 q0, q0, #16
                vmulh.s32 q0, q0, q1
                %svshr.s32 q0, q0, #%d
                %svstrh.32 q0, [%%[out]], #8
                letp lr, 1b
                2:
                """,
                isOne ? "" : "vdup.32 q4, %[offset]\nvdup.32 q5, %[offset_below]\n",
                isOne ? "vadd.i32 q0, q0, %[offset]\n" : "vpsel q1, q5, q4\nvadd.i32 q0, q0, q1\n",
                slopes.shift(),
                slopes.fits() ? "" : "vqmovnb.s32 q0, q0\n");
        String assembly = (isOne ? "  (void)more_offset;\n" : "")
                + "  __asm__ volatile(\n"
                + MveText.lines(loop)
                + "      : [in] \"+l\"(in), [out] \"+l\"(out)\n"
                + "      : [count] \"r\"(count), [by] \"r\"(by), [below] \"r\"(by + more_by), [offset] \"r\"(offset)"
                + (isOne ? "" : ", [offset_below] \"r\"(offset + more_offset)")
                + "\n      : \"lr\", \"q0\", \"q1\", \"q2\", \"q3\", "
                + (isOne ? "" : "\"q4\", \"q5\", ")
                + "\"cc\", \"memory\");\n";
        return SlopesKernel.of(
                "kiln_mve_slopes", slopes, "defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)", assembly);
    }
}
