// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.kernels.movement.Jtemve_interleaveGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.Collections;
import java.util.List;

/** The kernel {@code movement/mve_interleave} of {@link MveInterleaved}. */
final class MveInterleave {
    private MveInterleave() {}

    /** {@code interleave(from, to, bytes, zero_point, row0, ...)}: rows begin at offsets, which are negative outside the input. */
    static Kernel of(int rows) {
        String name = "kiln_mve_interleave_" + rows;
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(2 + rows, DType.INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtemve_interleaveGenerated.render(out, html, name, rows)),
                List.of());
    }
}
