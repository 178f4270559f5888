// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_winogradGenerated;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;
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
 * @param lines rows of factors of several such pixels that a block, which was transformed at run time, is multiplied with, at least three; rolled. 0 for the
 *     factors of one window
 */
public record DspWinogradKernel(
        int channels, int pitch, DspEpilogue epilogue, int most, boolean isRolled, boolean isPaired, int lines) {
    /** Largest number of unrolled steps where code may have any size. */
    static final int MOST_UNROLLED = 24;

    /** Bytes of the inputs of a step; of weights twice as many. */
    public static final int STEP_BYTES = 8;

    private String name() {
        return "kiln_winograd_" + channels + "_out" + pitch + (isRolled ? "_by" + unroll() : "")
                + (isTiled() ? "_tile" + lines : "") + (isPaired ? "_paired" : "") + epilogue.suffix();
    }

    /** Whether one block of weights is multiplied with several times two times two pixels. */
    public boolean isTiled() {
        return lines > 0;
    }

    /** Bytes from the factors of a kind to the next. */
    public int kindBytes() {
        return isTiled() ? 4 * channels * lines : STEP_BYTES * steps();
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

    /** Bytes of a transformed block of four channels: weights, and constants twice. */
    public int blockBytes() {
        return 4 * 2 * STEP_BYTES * steps() + 2 * DspWinograd.BLOCK * epilogue.constants() * Integer.BYTES;
    }

    /** {@code (x, w, out, blocks[, late])}; of a tile count in place of blocks, which is how many times two times two pixels there are. */
    Kernel kernel() {
        List<String> parameters = new ArrayList<>(List.of(
                "const int8_t* x",
                isTiled() ? "const int8_t* weights" : "const int32_t* w",
                "int8_t* out",
                isTiled() ? "int32_t count" : "int32_t blocks"));
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return Kernel.of(
                name(),
                List.of(Kernel.Pointer.in(INT8), Kernel.Pointer.in(isTiled() ? INT8 : INT32), Kernel.Pointer.out(INT8)),
                parameters.size() - 3,
                (out, html) -> Jtedsp_winogradGenerated.render(out, html, name(), this, epilogue, parameters));
    }
}
