// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;

import io.kiln.lower.Intrinsics;
import io.kiln.schedule.parts.AsmText;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A row of int16 times some columns on cores without SIMD: each sum as two of 32 bits, which needs no long multiplication. */
public final class BlockedMatrix {
    private static final KernelText TEXT = KernelText.of("portable/matrix/row");

    private static final int THUMB1_COLUMNS = 2;

    private BlockedMatrix() {}

    /** Columns whose sums fit the registers that multiply. */
    public static int columns(CpuFeatures features) {
        return features.hasLongMultiply() ? 4 : THUMB1_COLUMNS;
    }

    /** The kernel; pointers: row, panel with a value of each column in turn, sums; scalars: depth, blocks. */
    public static Kernel kernel(CpuFeatures features) {
        int columns = columns(features);
        boolean isThumb1 = columns == THUMB1_COLUMNS;
        String name = "kiln_matrix_row_" + columns;
        return new Kernel(
                name,
                List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.out(INT64)),
                List.of(INT32, INT32),
                List.of(),
                TEXT.with("NAME", name)
                        .with("COLUMNS", columns)
                        .with("CONDITION", isThumb1 ? AsmText.THUMB_1 : "0")
                        .with("ASSEMBLY", isThumb1 ? thumb1() : "")
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

    /**
     * Products of two columns on Armv6-M. Compilers keep the offsets of loads, 0 and 2, on the stack, or make them for each product.
     *
     * <pre>
     *   low0, high0   an input, a product, at last a column's sums     low1, high1   the offsets, at last the other column's sums
     *   r8 to r11     sums                                             r12           end of the row
     * </pre>
     */
    private static String thumb1() {
        AsmText text = new AsmText();
        text.line(".syntax unified");
        text.line("mov r12, %[end]");
        text.line("movs %[low1], #0");
        text.line("movs %[high1], #2");
        for (int r = 8; r < 12; r++) {
            text.line("mov r%d, %[low1]", r);
        }
        text.line("1:");
        text.line("ldrsh %[low0], [%[row], %[low1]]");
        for (int column = 0; column < THUMB1_COLUMNS; column++) {
            text.line("ldrsh %[high0], [%[w], %s]".replace("%s", column == 0 ? "%[low1]" : "%[high1]"));
            text.line("muls %[high0], %[low0]");
            text.line("add r" + (8 + 2 * column) + ", %[high0]");
            text.line("asrs %[high0], %[high0], #16");
            text.line("add r" + (9 + 2 * column) + ", %[high0]");
        }
        text.line("adds %[row], #2");
        text.line("adds %[w], #4");
        text.line("cmp %[row], r12");
        text.line("bne 1b");
        text.line("mov %[low0], r8");
        text.line("mov %[high0], r9");
        text.line("mov %[low1], r10");
        text.line("mov %[high1], r11");
        return "    const int16_t* row = x;\n"
                + "    __asm__ volatile(\n"
                + text.lines()
                + "      : [row] \"+l\"(row), [w] \"+l\"(w), [low0] \"=&l\"(low0), [high0] \"=&l\"(high0), [low1]"
                + " \"=&l\"(low1), [high1] \"=&l\"(high1)\n"
                + "      : [end] \"l\"(x + depth)\n"
                + "      : \"r8\", \"r9\", \"r10\", \"r11\", \"r12\", \"cc\", \"memory\");\n";
    }

    private static String each(int columns, String text) {
        return IntStream.range(0, columns)
                .mapToObj(i -> String.format(Locale.ROOT, text, i))
                .collect(Collectors.joining());
    }
}
