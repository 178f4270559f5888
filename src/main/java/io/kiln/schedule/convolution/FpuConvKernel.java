// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.kernels.convolution.JtefpuGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;

/**
 * The kernel {@code convolution/fpu}: sums of neighbouring pixels times a block of channels in registers.
 *
 * @param blocks what is computed together
 * @param limits of the results
 */
public record FpuConvKernel(FpuBlocks blocks, FpuLimits limits) {
    public Kernel kernel() {
        String name = "kiln_fpu_conv_" + blocks.suffix() + limits.suffix();
        return limits.kernel(
                name, 11, KernelSheet.text((out, html) -> JtefpuGenerated.render(out, html, name, blocks, limits)));
    }
}
