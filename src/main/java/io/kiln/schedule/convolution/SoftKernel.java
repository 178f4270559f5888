// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtesoft_dotGenerated;
import io.kiln.kernels.convolution.Jtesoft_endsGenerated;
import io.kiln.kernels.convolution.Jtesoft_fixGenerated;
import io.kiln.kernels.depthwise.JtesoftGenerated;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * Dot products of floats in integers, without instructions or functions for floats.
 *
 * <p>The inputs of a window become integers with the exponent of the largest, so that the sums of their products with the {@linkplain SoftWeights weights} are
 * sums of integers. Each sum's error is known to be less than a bound, see {@link SoftPrecision}. If neither the sum nor the magnitudes of its first products are large enough for
 * it, the sum is computed again from the inputs: there, each product has 30 bits and loses those that are below the largest product's last. Infinite inputs and NaN go that way, too,
 * and give what IEEE 754 demands.
 *
 * @param core for which it is written
 * @param channels computed together
 * @param unroll taps in its loop, where the core has a choice
 */
record SoftKernel(SoftCore core, int channels, int unroll) {
    /** Words before the integers of a window. */
    static final int HEADER = 3;

    private static final Intrinsic ZEROS = Intrinsic.inFile("convolution/kiln_soft_zeros", List.of(UINT32), INT32);
    private static final Intrinsic RESULT = Intrinsic.inFile(
            "convolution/kiln_soft_result", List.of(INT64, INT32, FLOAT32, INT32, INT32), FLOAT32, ZEROS);

    /** What kernels of sums call. */
    static final List<Intrinsic> USES = List.of(ZEROS, RESULT);

    /** Pointers to floats or words that a kernel reads. */
    private static Pointer in(DType dtype) {
        return Pointer.in(dtype);
    }

    /** The number of taps to whose multiple runs are padded. */
    int step() {
        return Math.max(core.step(), unroll);
    }

    /** {@code kernel(in, x, taps, padded, bits, factor, shift, least)}: the inputs of a window as integers, behind {@link #HEADER} words. */
    Kernel fix() {
        String name = "kiln_soft_fix";
        String text = KernelSheet.text((out, html) -> Jtesoft_fixGenerated.render(out, html, name, core));
        return Kernel.of(name, List.of(in(FLOAT32), Pointer.out(INT32)), 6, text);
    }

    /** {@code kernel(in, x, weights, biases, scales, out, taps, padded, channels, unit, low, high)}: all channels of a pixel. */
    Kernel dot() {
        String name = "kiln_soft_dot" + channels + (unroll > 1 ? "_by" + unroll : "");
        String text =
                KernelSheet.text((out, html) -> Jtesoft_dotGenerated.render(out, html, name, core, channels, unroll));
        return Kernel.of(
                name,
                List.of(in(FLOAT32), in(INT32), in(INT32), in(FLOAT32), in(INT16), Pointer.out(FLOAT32)),
                6,
                text,
                ZEROS,
                RESULT,
                ends());
    }

    /** The function that makes floats of sums. */
    private Intrinsic ends() {
        String text = KernelSheet.text((out, html) -> Jtesoft_endsGenerated.render(out, html, core));
        return new Intrinsic("kiln_soft_ends", List.of(), INT32, "", text, List.of(ZEROS));
    }

    /** {@code kernel(in, weights, biases, scales, out, taps, channels, low, high)}: all channels of a pixel of a depthwise convolution. */
    static Kernel depthwise(SoftCore core) {
        String name = "kiln_soft_depthwise";
        String text = KernelSheet.text((out, html) -> JtesoftGenerated.render(out, html, name, core));
        return new Kernel(
                name,
                List.of(in(FLOAT32), in(INT32), in(FLOAT32), in(INT16), Pointer.out(FLOAT32)),
                Collections.nCopies(4, INT32),
                List.of(),
                text,
                USES);
    }
}
