// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * Sums down the columns of a ring of int16 rows, a block of columns at a time: the rows from the oldest to the last, then
 * those from the first on.
 *
 * <pre>
 * r0       state                r1      weights: a block's in the order in which they are needed
 * r2 - r9  sums                 r10 r11 two words of weights    r12 lr  two words of the state
 * stack    oldest row, initial values, sums, first row, weights of the run's end, end of the sums, bytes of weights in the
 *          second run, in the first, then r7 and r11
 * </pre>
 */
final class DspColumns {
    /** The distance of rows is an immediate of 12 bits. */
    static final int MOST_COLUMNS = 2000;

    private static final KernelText TEXT = KernelText.of("dsp/columns");
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
                TEXT.with("NAME", name)
                        .with("COLUMNS", columns)
                        .with("WIDTH", width(columns))
                        .with("ASSEMBLY", assembly(columns, width(columns)))
                        .text(),
                List.of());
    }

    private static String assembly(int columns, int width) {
        String sums = "r2" + (width == 2 ? ", r3" : "-r" + (1 + width));
        AsmText asm = new AsmText();
        asm.line("push {r7, r11}");
        asm.line("push {%s}", AsmText.kept(9));
        asm.line("1:");
        asm.line("ldr r10, [sp, #4]");
        asm.line("ldmia r10!, {%s}", sums);
        asm.line("str r10, [sp, #4]");
        asm.line("2:");
        row(asm, columns, width, "2b");
        asm.line("ldr r11, [sp, #24]");
        asm.line("add r10, r11");
        asm.line("str r10, [sp, #16]");
        asm.line("ldr r0, [sp, #12]");
        asm.line("cmp r1, r10");
        asm.line("beq 4f");
        asm.line("3:");
        row(asm, columns, width, "3b");
        asm.line("4:");
        nextBlock(asm, width, sums);
        asm.line("ldr r11, [sp, #20]");
        asm.line("cmp r10, r11");
        asm.line("bne 1b");
        asm.line("add sp, #%d", 4 * 8);
        asm.line("pop {r7, r11}");
        return statement(asm, columns, width);
    }

    private static String statement(AsmText asm, int columns, int width) {
        return asm.statement(
                List.of(
                        "state + oldest * " + columns,
                        "w",
                        "begin",
                        "sums",
                        "state",
                        "w + (rows - oldest) * " + width,
                        "sums + " + columns,
                        "2 * oldest * " + width,
                        "2 * (rows - oldest) * " + width),
                List.of(
                        "const int16_t*",
                        "const int16_t*",
                        "const int32_t*",
                        "int32_t*",
                        "const int16_t*",
                        "const int16_t*",
                        "int32_t*",
                        "int32_t",
                        "int32_t"),
                List.of("r6", "r8", "r9", "r10", "r12", "lr"));
    }

    /** Stores the sums of a block, and moves the pointers to the next one. */
    private static void nextBlock(AsmText asm, int width, String sums) {
        asm.line("ldr r11, [sp, #28]");
        asm.line("add r10, r11");
        asm.line("str r10, [sp, #16]");
        asm.line("ldr r10, [sp, #8]");
        asm.line("stmia r10!, {%s}", sums);
        asm.line("str r10, [sp, #8]");
        asm.line("ldr r0, [sp, #12]");
        asm.line("add r0, #%d", 2 * width);
        asm.line("str r0, [sp, #12]");
        asm.line("ldr r0, [sp]");
        asm.line("add r0, #%d", 2 * width);
        asm.line("str r0, [sp]");
    }

    /** A row of a block, then the branch unless the run has ended; its end is left in r10. */
    private static void row(AsmText asm, int columns, int width, String again) {
        for (int column = 0; column + 2 < width; column += 4) {
            asm.line("ldrd r10, r11, [r1], #8");
            asm.line("ldrd r12, lr, [r0, #%d]", 2 * column);
            products(asm, 2 + column, "r12", "r10");
            products(asm, 4 + column, "lr", "r11");
        }
        if (width == 2) {
            asm.line("ldr r10, [r1], #4");
            asm.line("ldr r12, [r0]");
            products(asm, 2, "r12", "r10");
        }
        asm.line("ldr r10, [sp, #16]");
        asm.line("addw r0, r0, #%d", 2 * columns);
        asm.line("cmp r1, r10");
        asm.line("bne %s", again);
    }

    private static void products(AsmText asm, int sum, String state, String weights) {
        asm.line("smlabb r%d, %s, %s, r%d", sum, state, weights, sum);
        asm.line("smlatt r%d, %s, %s, r%d", sum + 1, state, weights, sum + 1);
    }
}
