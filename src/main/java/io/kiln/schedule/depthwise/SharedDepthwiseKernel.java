// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.depthwise.Jtedsp_sharedGenerated;
import io.kiln.schedule.convolution.SharedEpilogue;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * Any depthwise convolution on Cortex-M with the DSP extension, four channels at a time: rows are widened into a ring of as many as the window has, and the
 * window's weights once for each position in the ring; then two pixels at a time share the weights.
 *
 * @param epilogue the rescaling of the sums
 */
record SharedDepthwiseKernel(SharedEpilogue epilogue) {
    static final int BLOCK = 4;

    /** Taps of a step. */
    static final int STEP = 3;

    /** Bytes of four channels of a tap or pixel. */
    static final int BYTES = 8;

    private static final Intrinsic WIDEN = Intrinsic.inFile("depthwise/kiln_depthwise_widen", List.of(), INT32);
    private static final Intrinsic LAYER = Intrinsic.inFile("depthwise/kiln_depthwise_layer", List.of(), INT32, WIDEN);

    /** {@code (in, w, rescale, layer, x, out)}, of which x is scratch. */
    Kernel kernel() {
        return new Kernel(
                "kiln_depthwise_rows" + epilogue.suffix(),
                List.of(
                        Pointer.in(INT8),
                        Pointer.in(INT8),
                        Pointer.in(INT32),
                        Pointer.in(INT16),
                        Pointer.out(INT8),
                        Pointer.out(INT8)),
                List.of(),
                List.of(),
                KernelSheet.text((out, html) -> Jtedsp_sharedGenerated.render(
                        out,
                        html,
                        "kiln_depthwise_rows" + epilogue.suffix(),
                        "kiln_depthwise_pixels" + epilogue.suffix(),
                        epilogue)),
                List.of(WIDEN, LAYER));
    }
}
