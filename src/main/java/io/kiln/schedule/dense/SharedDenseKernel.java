// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.dense.Jtedsp_sharedGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/**
 * Any row of inputs times blocks of four channels on Cortex-M with the DSP extension; if weights are summed, with {@link io.kiln.schedule.parts.CrossedProducts}.
 *
 * @param isSummed whether two weights in a halfword are a sum, otherwise two bytes
 */
record SharedDenseKernel(boolean isSummed) {
    /** Channels of a block. */
    static final int BLOCK = 4;

    /** {@code (x, w, layer, out)}. */
    Kernel kernel() {
        String name = isSummed ? "kiln_dense" : "kiln_dense_bytes";
        return new Kernel(
                name,
                List.of(Pointer.in(INT8), Pointer.in(INT32), Pointer.in(INT32), Pointer.out(INT8)),
                List.of(),
                List.of(),
                KernelSheet.text((out, html) -> Jtedsp_sharedGenerated.render(out, html, name, isSummed)),
                List.of());
    }
}
