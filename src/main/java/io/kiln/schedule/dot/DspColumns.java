// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.kernels.recurrent.Jtedsp_columnsGenerated;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;

/** The kernel {@code recurrent/dsp_columns}: sums down the columns of a ring of int16 rows, a block of columns at a time. */
final class DspColumns {
    /** The distance of rows is an immediate of 12 bits. */
    static final int MOST_COLUMNS = 2000;

    private static final int WIDEST = 8;

    private DspColumns() {}

    /** Columns of a block for an even number of columns. */
    static int width(int columns) {
        return columns % WIDEST == 0 ? WIDEST : columns % 4 == 0 ? 4 : 2;
    }

    static Kernel kernel(int columns) {
        String name = "kiln_columns_" + columns;
        return new Kernel(
                name,
                List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.in(INT32), Pointer.out(INT32)),
                List.of(INT32, INT32),
                List.of(),
                KernelSheet.text(
                        (out, html) -> Jtedsp_columnsGenerated.render(out, html, name, columns, width(columns))),
                List.of());
    }
}
