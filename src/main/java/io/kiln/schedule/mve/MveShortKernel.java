// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.kernels.convolution.Jtemve_gemm_keptGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/**
 * The kernel {@code convolution/mve_gemm_kept} of {@link MveGemm} for at most 16 products: a block of four channels stays in registers for all
 * pixels. Arguments and table are those of {@link MveGemmKernel}.
 *
 * @param depth products of one dot product
 * @param end how sums become results, without a free vector
 */
record MveShortKernel(int depth, MveEnd end) {
    Kernel kernel() {
        String name = "kiln_mve_gemm_" + depth + "_1x4_kept" + end.suffix();
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(6, DType.INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtemve_gemm_keptGenerated.render(out, html, name, depth, end)),
                List.of(end.twin(), MveText.WORD));
    }
}
