// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.kernels.convolution.Jtedsp_winogradGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.stream.IntStream;

/**
 * The kernel that multiplies the factors of {@link DspWinograd} with blocks of four output channels, for two times two pixels.
 *
 * @param channels input channels
 * @param pitch bytes from a pixel of the output to the next
 * @param epilogue the rescaling of the sums
 * @param most largest number of unrolled steps
 * @param isRolled whether one loop computes all kinds of products
 * @param isPaired see {@link DspConvShape}
 */
public record DspWinogradKernel(
        int channels, int pitch, DspEpilogue epilogue, int most, boolean isRolled, boolean isPaired) {
    /** Largest number of unrolled steps where code may have any size. */
    static final int MOST_UNROLLED = 24;

    /** Bytes of the inputs of a step; of weights twice as many. */
    public static final int STEP_BYTES = 8;

    private String name() {
        return "kiln_winograd_" + channels + "_out" + pitch + (isRolled ? "_by" + unroll() : "")
                + (isPaired ? "_paired" : "") + epilogue.suffix();
    }

    /** Steps of two inputs, for each kind of product. */
    public int steps() {
        return 3 * channels / 2;
    }

    /** Steps in a loop, or all of them if they are few. */
    public int unroll() {
        return IntStream.rangeClosed(1, most)
                .filter(count -> steps() % count == 0)
                .max()
                .orElseThrow();
    }

    /** Powers of two by which weights are scaled. */
    public int scaleBits() {
        return DspWinogradWeights.SCALE_BITS;
    }

    Kernel kernel() {
        return epilogue.kernel(
                name(),
                0,
                KernelSheet.text((out, html) -> Jtedsp_winogradGenerated.render(out, html, name(), this, epilogue)));
    }
}
