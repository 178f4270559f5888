// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.stream.Collectors;

/** Common to the texts of all kernels for MVE (Helium, Cortex-M55 and later). */
public final class MveText {
    /** The scalar equivalent of the vector instructions for one accumulator. */
    static final Intrinsic TWIN = Intrinsic.inFile("requantize/kiln_mve_result", List.of(), DType.INT8);

    /** Reads a word of a table of bytes without vector loads. */
    static final Intrinsic WORD = Intrinsic.inFile("convolution/kiln_mve_word", List.of(), DType.INT32);

    private MveText() {}

    /** Instructions as the strings of an asm statement, one to a line. */
    public static String lines(String instructions) {
        return instructions
                .lines()
                .map(line -> "        \"" + line + "\\n\\t\"\n")
                .collect(Collectors.joining());
    }
}
