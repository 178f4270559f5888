// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import io.kiln.kernels.depthwise.JtefpuGenerated;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;

/**
 * The kernel {@code depthwise/fpu}: neighbouring pixels of four channels.
 *
 * @param tile pixels and columns
 * @param limits of the results
 */
record FpuDepthwiseKernel(PixelTile tile, FpuLimits limits) {
    static final int CHANNELS = 4;

    Kernel kernel() {
        String name = "kiln_fpu_depthwise_" + tile.suffix() + limits.suffix();
        return limits.kernel(
                name, 8, KernelSheet.text((out, html) -> JtefpuGenerated.render(out, html, name, tile, limits)));
    }
}
