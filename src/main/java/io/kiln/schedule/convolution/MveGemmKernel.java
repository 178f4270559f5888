// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtemve_gemmGenerated;
import io.kiln.kernels.convolution.Jtemve_gemm_keptGenerated;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.stream.Stream;

/**
 * The kernel {@code convolution/mve_gemm} of {@link MveGemmSchedule}: dot products of a run of pixels with blocks of output channels, rescaled to int8.
 *
 * @param depth products of one dot product
 * @param pixels pixels computed together, 1 or 2
 * @param block channels computed together: 4, or 8 for a single pixel
 * @param end how sums become results
 * @param filled channels of the block that have weights: all of them, unless the layer has fewer
 * @param rest whether channels are not a multiple of the block
 * @param loop how the steps of 16 products are written
 */
public record MveGemmKernel(int depth, int pixels, int block, int filled, MveEpilogue end, boolean rest, Loop loop) {

    static final int VECTOR = 16;

    /** Reads a word of a table of bytes without vector loads. */
    private static final Intrinsic WORD = Intrinsic.inFile("convolution/kiln_mve_word", List.of(), DType.INT32);

    /** More unrolled steps than the rules choose. */
    private static final int MANY = 9;

    private static final MveSteps.Instructions SET =
            new MveSteps.Instructions("vldrb.8", "vldrb.8", VECTOR, "vmladav.s8", "vmladava.s8");

    /**
     * How steps of 16 products are written.
     *
     * @param unroll number of them in the loop: all of them are written out if there are no more than this
     * @param isPipelined whether two pixels times four channels load for the next step between multiplications
     * @param isPacked whether weights of two channels share a byte
     */
    record Loop(int unroll, boolean isPipelined, boolean isPacked) {}

    /** Bytes of a block: weights, then bias, multiplier and shift of each channel. */
    public int blockBytes() {
        return weightVectors() * vectors() * VECTOR + 12 * block;
    }

    /** Whether a byte holds weights of two channels, the first in its lower half. */
    public boolean isPacked() {
        return loop.isPacked;
    }

    /** Vectors of weights of a step. */
    public int weightVectors() {
        return isPacked() ? (filled + 1) / 2 : filled;
    }

    /** Steps of 16 products, of which the last one may have fewer. */
    int vectors() {
        return (depth + VECTOR - 1) / VECTOR;
    }

    Kernel kernel() {
        String name = "kiln_mve_gemm_" + depth + "_" + pixels + "x" + block + end.suffix()
                + (filled < block ? "_of" + filled : rest ? "_r" : "")
                + (loop.unroll > MANY ? "_unroll" + loop.unroll : "")
                + (steps().isPipelined() ? "_pipelined" : "")
                + (isPacked() ? "_packed" : "");
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                List.of(DType.INT32, DType.INT32, DType.INT32, DType.INT32, DType.INT32, DType.INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtemve_gemmGenerated.render(out, html, name, this)),
                Stream.concat(end.twins().stream(), Stream.of(WORD)).toList());
    }

    /** The loop over the products. */
    public MveSteps steps() {
        boolean isPipelined = loop.isPipelined && MveSteps.canPipeline(pixels, filled);
        return new MveSteps(SET, pixels, filled, loop.unroll, isPipelined, isPacked());
    }

    /** The kernel {@code convolution/mve_gemm_kept} for at most 16 products: a block of four channels stays in registers for all pixels. */
    Kernel kept() {
        String name = "kiln_mve_gemm_" + depth + "_1x4_kept" + end.suffix();
        return Kernel.of(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                6,
                (out, html) -> Jtemve_gemm_keptGenerated.render(out, html, name, depth, end),
                end.twin(),
                WORD);
    }

    /** The kernel for a single pixel that reads the same table. */
    MveGemmKernel single() {
        return new MveGemmKernel(depth, 1, block, filled, end, rest, loop);
    }
}
