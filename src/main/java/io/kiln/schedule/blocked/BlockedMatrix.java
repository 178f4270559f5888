// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;

import io.kiln.lower.Intrinsics;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A row of int16 times some columns on cores without SIMD: each sum as two of 32 bits, which needs no long multiplication. */
public final class BlockedMatrix {
    private static final KernelText TEXT = KernelText.of("portable/matrix/row");

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
                TEXT.with("NAME", name)
                        .with("COLUMNS", columns)
                        .with("BEGIN", each(columns, "    uint32_t low%1$d = 0;\n    int32_t high%1$d = 0;\n"))
                        .with("STEP", each(columns, """
                                      const int32_t product%1$d = value * w[%1$d];
                                      low%1$d += (uint32_t)product%1$d;
                                      high%1$d += product%1$d >> 16;
                                """))
                        .with("END", each(columns, "    sums[%1$d] = kiln_from_halves(low%1$d, high%1$d);\n"))
                        .text(),
                List.of(Intrinsics.FROM_HALVES));
    }

    private static String each(int columns, String text) {
        return IntStream.range(0, columns).mapToObj(text::formatted).collect(Collectors.joining());
    }
}
