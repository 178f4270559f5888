// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtedsp_int16_tapsGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * The kernel {@code convolution/dsp_int16_taps}: the dot products of {@link DspWideKernel} in assembly, for a known number of taps.
 *
 * @param pixels 1 or 2
 * @param taps of a dot product
 * @param unroll steps of two taps in the loop; up to twice as many need no loop
 * @param isMultiple whether the weights of a step are loaded together
 */
public record DspTapsKernel(int pixels, int taps, int unroll, boolean isMultiple) {
    static final int CHANNELS = 3;

    /** {@code (x0[, x1], w, sums)}, as {@link DotKernel#arguments} has them. */
    Kernel kernel(List<Pointer> pointers) {
        String name = "kiln_dot16_" + taps + "_" + pixels + "x" + CHANNELS + (isStraight() ? "" : "_unroll" + unroll)
                + (isMultiple ? "_multiple" : "");
        String definition = KernelSheet.text((out, html) -> Jtedsp_int16_tapsGenerated.render(out, html, name, this));
        return new Kernel(name, pointers, List.<DType>of(), List.of(), definition, List.of());
    }

    private int pairs() {
        return taps / 2;
    }

    /** Whether there is no loop. */
    public boolean isStraight() {
        return pairs() <= 2 * unroll;
    }

    /** Steps before the loop. */
    public int first() {
        return isStraight() ? pairs() : pairs() % unroll;
    }
}
