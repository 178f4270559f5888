// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Common to the texts of all kernels for MVE (Helium, Cortex-M55 and later). */
public final class MveText {
    /** The scalar equivalent of the vector instructions for one accumulator. */
    static final Intrinsic TWIN = Intrinsic.inFile("mve/kiln_mve_result", List.of(), DType.INT8);

    /** Reads a word of a table of bytes without vector loads. */
    static final Intrinsic WORD = Intrinsic.inFile("mve/kiln_mve_word", List.of(), DType.INT32);

    private MveText() {}

    /**
     * Instructions from a rescaled product to the result: the rounding shift, the limits, the zero point in r11. Limits relative to the
     * zero point are kept by saturation: r12 holds INT32_MIN less the lower one, the state INT32_MAX less the upper one.
     *
     * @param q register of four products
     * @param shifts register of their shifts
     * @param above offset of the upper limit in the state that r9 points to
     */
    static String finish(boolean limits, int q, int shifts, int above) {
        return String.format(Locale.ROOT, "vrshl.s32 q%1$d, q%1$d, q%2$d\n", q, shifts) + limit(limits, q, above);
    }

    /** The same without the shift. */
    static String limit(boolean limits, int q, int above) {
        String end = limits ? """
            vqadd.s32 q%1$d, q%1$d, r12
            vsub.i32 q%1$d, q%1$d, r12
            ldr r0, [r9, #%2$d]
            vqadd.s32 q%1$d, q%1$d, r0
            vsub.i32 q%1$d, q%1$d, r0
            vadd.i32 q%1$d, q%1$d, r11
            """ : """
                vadd.i32 q%1$d, q%1$d, r11
                vqmovnb.s16 q%1$d, q%1$d
                """;
        return String.format(Locale.ROOT, end, q, above);
    }

    /** Instructions as the strings of an asm statement, one to a line. */
    public static String lines(String instructions) {
        return instructions
                .lines()
                .map(line -> "        \"" + line + "\\n\\t\"\n")
                .collect(Collectors.joining());
    }
}
