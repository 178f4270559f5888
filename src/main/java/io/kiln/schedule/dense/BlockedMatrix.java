// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;

import io.kiln.kernels.dense.Jtematrix_rowGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/** A row of int16 times some columns on cores without SIMD: each sum as two of 32 bits, which needs no long multiplication. */
public final class BlockedMatrix {
    private BlockedMatrix() {}

    /** Columns whose sums fit the registers that multiply. */
    public static int columns(CpuFeatures features) {
        return features.hasLongMultiply() ? 4 : 2;
    }

    /** The kernel; pointers: row, panel with a value of each column in turn, sums; scalars: depth, blocks. */
    public static Kernel kernel(CpuFeatures features) {
        int columns = columns(features);
        String name = "kiln_matrix_row_" + columns;
        return new Kernel(
                name,
                List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.out(INT64)),
                List.of(INT32, INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtematrix_rowGenerated.render(out, html, name, columns)),
                List.of(Intrinsics.FROM_HALVES));
    }
}
