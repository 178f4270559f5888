// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;

/**
 * A row of int16 times blocks of four columns by SMLALD, for {@link WideMatrix}. The pairs of values left over by steps of four are summed
 * before the loop, the last one of an odd number behind it.
 *
 * <pre>
 * r0  values         r2 r3, r4 r5, r6 r7, r8 r9  sums       r12  values, ends, odd, sums, blocks in memory
 * r1  columns        r10 a pair of values                   r11 lr  pairs of the columns' values
 * </pre>
 */
final class DspMatrixRow {
    private static final int UNROLL = 4;
    private static final int COLUMNS = 4;
    private static final int FIRST_SUM = 2;

    private DspMatrixRow() {}

    static Kernel kernel() {
        return new Kernel(
                "kiln_matrix_row",
                List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.out(INT64)),
                List.of(INT32, INT32),
                List.of(),
                KernelText.of("dsp/matrix_row").with("ASSEMBLY", assembly()).text(),
                List.of());
    }

    private static String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r7, r11}");
        asm.line("1:");
        asm.line("ldrd r0, lr, [r12]");
        for (int register = FIRST_SUM; register < FIRST_SUM + 2 * COLUMNS; register++) {
            asm.line("mov r%d, #0", register);
        }
        steps(asm, 1, 4);
        asm.line("ldr lr, [r12, #8]");
        steps(asm, UNROLL, 8);
        asm.line("ldr r10, [r12, #12]");
        asm.line("cmp r10, #0");
        asm.line("beq 2f");
        asm.line("ldrsh r10, [r0]");
        products(asm, 0);
        asm.line("adds r1, #%d", 4 * COLUMNS);
        asm.line("2:");
        asm.line("ldrd r10, r11, [r12, #16]");
        asm.line("stmia r10!, {r2-r9}");
        asm.line("subs r11, #1");
        asm.line("strd r10, r11, [r12, #16]");
        asm.line("bne 1b");
        asm.line("pop {r7, r11}");
        return asm.lines();
    }

    /** A loop of steps up to the end that is in lr, and again at an offset in memory. */
    private static void steps(AsmText asm, int count, int end) {
        asm.line("cmp r0, lr");
        asm.line("beq 4f");
        asm.line("3:");
        for (int step = 0; step < count; step++) {
            asm.line("ldr r10, [r0, #%d]", 4 * step);
            products(asm, 4 * COLUMNS * step);
        }
        asm.line("ldr lr, [r12, #%d]", end);
        asm.line("adds r0, #%d", 4 * count);
        asm.line("adds r1, #%d", 4 * COLUMNS * count);
        asm.line("cmp r0, lr");
        asm.line("bne 3b");
        asm.line("4:");
    }

    /** A pair of values times those of all columns. */
    private static void products(AsmText asm, int offset) {
        for (int column = 0; column < COLUMNS; column += 2) {
            int sum = FIRST_SUM + 2 * column;
            asm.line("ldr r11, [r1, #%d]", offset + 4 * column);
            asm.line("ldr lr, [r1, #%d]", offset + 4 * column + 4);
            asm.line("smlald r%d, r%d, r10, r11", sum, sum + 1);
            asm.line("smlald r%d, r%d, r10, lr", sum + 2, sum + 3);
        }
    }
}
