// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/**
 * The micro-kernel of {@link DspColumnDepthwise}: one or two rows of the output, in blocks of four channels.
 *
 * <pre>
 * r0        inputs, then the output         r1      weights, then the constants of the block's channels
 * r2-r5     sums of the first row           r6-r9   sums of the second row
 * r10 r11   inputs of channels 0 2, 1 3     r12 lr  weights of channels 0 2, 1 3
 * stack     inputs, output, end of the output[, late offset], then r7 and r11, which may be frame pointers
 * </pre>
 *
 * <p>A tap is 12 instructions for 8 products: LDR, 2 SXTB16, LDRD, 8 SMLA. The weights of a tap serve the second row one input row later.
 *
 * @param taps rows of the window
 * @param rowBytes bytes from a tap's input to the next
 * @param outBytes bytes from a row of the output to the next
 * @param rows rows of the output
 * @param epilogue the rescaling of the sums
 */
record DspColumnKernel(int taps, int rowBytes, int outBytes, int rows, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/column");

    private String name() {
        return "kiln_column_" + taps + "_row" + rowBytes + "_out" + outBytes + "_rows" + rows + epilogue.suffix();
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                Collections.nCopies(1 + epilogue.parameters().size(), INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String definition() {
        return epilogue.head(TEXT)
                .with("ROWS_NAME", rows == 1 ? "One row" : "Two rows")
                .with("TAPS", taps)
                .with("ROW_BYTES", rowBytes)
                .with("THREE_AND_SCALE", "3" + (epilogue.range().isSummed() ? ", times 256" : ""))
                .with("NAME", name())
                .with("ASSEMBLY", assembly())
                .with("TAP_WORDS", 2 * taps)
                .with("ROWS", rows)
                .with("WEIGHT", "weight" + (epilogue.range().isSummed() ? " / 256" : ""))
                .with("RESCALE", epilogue.twin("        ", "sum"))
                .with("OUT_BYTES", outBytes)
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        DspBlockArguments arguments = DspBlockArguments.of(epilogue);
        arguments.push(asm);
        asm.line("1:");
        for (int row = 0; row < taps + rows - 1; row++) {
            row(asm, row);
        }
        asm.line("add r0, #4");
        asm.line("str r0, [sp]");
        asm.line("ldr r0, [sp, #4]");
        for (int c = 0; c < 4; c++) {
            List<String> sums = List.of("r" + (2 + c), "r" + (6 + c)).subList(0, rows);
            List<String> places = List.of("[r0, #" + c + "]", "[r0, #" + (outBytes + c) + "]");
            epilogue.store(asm, new DspEpilogue.Sums(sums, List.of(), false), places, "[sp, #12]");
        }
        asm.line("add r0, #4");
        asm.line("str r0, [sp, #4]");
        asm.line("ldr r10, [sp, #8]");
        asm.line("cmp r0, r10");
        asm.line("ldr r0, [sp]");
        asm.line("bne 1b");
        return arguments.popped(asm, 0);
    }

    /** One row of the input: with the weights of the tap before for the second row, then with those of its own for the first. */
    private void row(AsmText asm, int row) {
        asm.line("ldr r10, [r0, #%d]", row * rowBytes);
        asm.line("sxtb16 r11, r10, ror #8");
        asm.line("sxtb16 r10, r10");
        if (row > 0 && rows == 2) {
            multiply(asm, row == 1, 6);
        }
        if (row < taps) {
            asm.line("ldrd r12, lr, [r1], #8");
            multiply(asm, row == 0, 2);
        }
    }

    private static void multiply(AsmText asm, boolean starts, int first) {
        for (int c = 0; c < 4; c++) {
            String half = c < 2 ? "bb" : "tt";
            String operands = c % 2 == 0 ? "r10, r12" : "r11, lr";
            if (starts) {
                asm.line("smul%s r%d, %s", half, first + c, operands);
            } else {
                asm.line("smla%s r%d, %s, r%d", half, first + c, operands, first + c);
            }
        }
    }
}
