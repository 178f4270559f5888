// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.base.DType;
import io.kiln.kernels.depthwise.Jtemve_floatGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The kernels of {@link MveFloatDepthwise}, of which {@code depthwise/mve_float} adds taps: four channels at a time, with remaining channels predicated.
 *
 * @param pixels number of neighbouring pixels, at most 4
 * @param taps number of neighbouring taps, at most {@link #MOST_TAPS}
 * @param stride pixels of the input from one pixel to the next
 * @param dilation likewise from tap to tap
 */
public record MveFloatTaps(int pixels, int taps, int stride, int dilation) {
    public static final int MOST_TAPS = 3;

    /** {@code start(bias, sums, channels, pixels)}. */
    static final Kernel START = Kernel.inFile(
            "depthwise/kiln_mve_depthf_start",
            List.of(Pointer.in(DType.FLOAT32), Pointer.out(DType.FLOAT32)),
            List.of(DType.INT32, DType.INT32));

    /** {@code limit(values, count, low, high)}; limits are the bits of floats, since they may be infinite. */
    static final Kernel LIMIT = Kernel.inFile(
            "depthwise/kiln_mve_depthf_limit",
            List.of(Pointer.out(DType.FLOAT32)),
            List.of(DType.INT32, DType.INT32, DType.INT32));

    Kernel kernel() {
        String name = "kiln_mve_depthf_" + pixels + "x" + taps + (stride == 1 ? "" : "_s" + stride)
                + (dilation == 1 ? "" : "_d" + dilation);
        return new Kernel(
                name,
                List.of(Pointer.in(DType.FLOAT32), Pointer.in(DType.FLOAT32), Pointer.out(DType.FLOAT32)),
                List.of(DType.INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtemve_floatGenerated.render(out, html, name, this)),
                List.of());
    }

    /** The tap of a pixel that reads a column, counted from the first pixel's first tap; negative if none does. */
    public int tap(int pixel, int column) {
        int offset = column - pixel * stride;
        return offset >= 0 && offset % dilation == 0 && offset / dilation < taps ? offset / dilation : -1;
    }

    /** Whether some pixel reads a column. */
    public boolean isRead(int column) {
        return IntStream.range(0, pixels).anyMatch(p -> tap(p, column) >= 0);
    }
}
