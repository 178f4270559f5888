// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.kernels.convolution.Jtedsp_pairsGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;

/**
 * Two neighbouring pixels or one, whose windows are already widened, times blocks of four output channels.
 *
 * @param shape sizes
 * @param epilogue the rescaling of the sums
 */
record DspConvKernel(DspConvShape shape, DspEpilogue epilogue) {
    String name() {
        return "kiln_conv_" + shape.suffix() + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late])}. */
    Kernel kernel() {
        return epilogue.kernel(
                name(),
                0,
                KernelSheet.text((out, html) -> Jtedsp_pairsGenerated.render(out, html, name(), shape, epilogue)));
    }
}
