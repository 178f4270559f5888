// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.convolution.Jtedsp_winogradGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
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
 * @param tile several such pixels that a block is multiplied with before the next one; rolled
 */
public record DspWinogradKernel(
        int channels,
        int pitch,
        DspEpilogue epilogue,
        int most,
        boolean isRolled,
        boolean isPaired,
        Optional<Tile> tile) {
    /**
     * Several times two times two pixels, whose factors follow each other in scratch.
     *
     * @param isCopied see {@link DspTile}
     */
    public record Tile(boolean isCopied) {}

    /** Largest number of unrolled steps where code may have any size. */
    static final int MOST_UNROLLED = 24;

    /** Bytes of the inputs of a step; of weights twice as many. */
    public static final int STEP_BYTES = 8;

    private String name() {
        return "kiln_winograd_" + channels + "_out" + pitch + (isRolled ? "_by" + unroll() : "")
                + tile.map(t -> t.isCopied ? "_tile_copied" : "_tile").orElse("")
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

    /** Bytes of a block of four channels: weights, and constants twice. */
    public int blockBytes() {
        return 4 * 2 * STEP_BYTES * steps() + 2 * DspWinograd.BLOCK * epilogue.constants() * Integer.BYTES;
    }

    /** Whether weights in flash are copied to scratch. */
    public boolean isCopied() {
        return tile.filter(Tile::isCopied).isPresent();
    }

    /** Bytes of scratch before the factors. */
    public int copyBytes() {
        return isCopied() ? DspTile.aligned(blockBytes()) : 0;
    }

    /** {@code (x, w, out, blocks[, count][, late])}; count is how many times two times two pixels there are, at least one. */
    Kernel kernel() {
        List<String> parameters = new ArrayList<>(List.of(
                (isCopied() ? "" : "const ") + "int8_t* x", "const int32_t* w", "int8_t* out", "int32_t blocks"));
        tile.ifPresent(t -> parameters.add("int32_t count"));
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return new Kernel(
                name(),
                List.of(new Kernel.Pointer(INT8, isCopied()), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                Collections.nCopies(parameters.size() - 3, INT32),
                List.of(),
                KernelSheet.text(
                        (out, html) -> Jtedsp_winogradGenerated.render(out, html, name(), this, epilogue, parameters)),
                List.of());
    }
}
