// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The micro-kernel of {@link DspColumnDepthwise} and {@link DspWindowDepthwise}: one or two outputs along the taps, in blocks of four channels.
 *
 * <pre>
 * r0        inputs                          r1      weights, then the constants of the block's channels
 * r2-r5     sums of the first row           r6-r9   sums of the second row
 * r10 r11   inputs of channels 0 2, 1 3     r12 lr  weights of channels 0 2, 1 3; later r12 is the output
 * stack     output, end of the output, then callee-saved registers[, late offset][, input rows]
 * </pre>
 *
 * <p>A tap is 13 instructions for 8 products: LDR, 2 SXTB16, 2 LDR, 8 SMLA. The weights of a tap serve the second row one input row later.
 *
 * @param window taps
 * @param outBytes bytes from an output to the next
 * @param rows outputs
 * @param epilogue the rescaling of the sums
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 */
record DspColumnKernel(Window window, int outBytes, int rows, DspEpilogue epilogue, boolean isPaired) {
    /**
     * The taps of a window: those that two outputs share follow each other in a line.
     *
     * @param taps taps of a line
     * @param tapBytes bytes from a tap's input to the next; 0 if they are parameters, because rows lie in a ring
     * @param lines lines of taps
     * @param lineBytes bytes from a line to the next
     */
    record Window(int taps, int tapBytes, int lines, int lineBytes) {
        /** A single line. */
        static Window line(int taps, int tapBytes) {
            return new Window(taps, tapBytes, 1, 0);
        }

        private int all() {
            return taps * lines;
        }

        private String suffix() {
            return lines == 1
                    ? taps + (tapBytes == 0 ? "_apart" : "_row" + tapBytes)
                    : lines + "x" + taps + "_row" + tapBytes + "_line" + lineBytes;
        }

        private String inWords() {
            if (lines > 1) {
                return lines + " lines, " + lineBytes + " bytes apart, of " + taps + " taps, " + tapBytes
                        + " bytes apart";
            }
            return taps + " rows, " + (tapBytes == 0 ? "at offsets" : tapBytes + " bytes apart");
        }

        /** C's expression for the input of a tap of an output. */
        private String place() {
            if (lines > 1) {
                return String.format(
                        Locale.ROOT, "tap / %d * %d + (row + tap %% %d) * %d", taps, lineBytes, taps, tapBytes);
            }
            return tapBytes == 0 ? "offsets[tap]" : "(row + tap) * " + tapBytes;
        }
    }

    private static final KernelText TEXT = KernelText.of("dsp/column");

    private static final int OUTPUT = 0;
    private static final int END = 4;
    private static final int LATE = 44;

    private boolean areApart() {
        return window.tapBytes == 0;
    }

    private String name() {
        return "kiln_column_" + window.suffix() + "_out" + outBytes + "_rows" + rows + (isPaired ? "_paired" : "")
                + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late][, rows])}; a row is its offset from x. */
    Kernel kernel() {
        return epilogue.kernel(
                name(), parameters().size() - epilogue.kernelParameters().size(), definition());
    }

    private String definition() {
        return epilogue.head(TEXT)
                .with("ROWS_NAME", rows == 1 ? "One row" : "Two rows")
                .with("TAPS", window.all())
                .with("TAPS_IN_WORDS", window.inWords())
                .with(
                        "OFFSETS",
                        areApart() ? "  const int32_t offsets[" + window.taps + "] = {" + offsets() + "};\n" : "")
                .with("PLACE", window.place())
                .with("UNUSED_PARAMETERS", DspConvKernel.unused(parameters()))
                .with("PARAMETERS", String.join(", ", parameters()))
                .with("THREE_AND_SCALE", "3" + (epilogue.range().isSummed() ? ", times 256" : ""))
                .with("NAME", name())
                .with("ASSEMBLY", assembly())
                .with("TAP_WORDS", 2 * window.all())
                .with("ROWS", rows)
                .with("WEIGHT", "weight" + (epilogue.range().isSummed() ? " / 256" : ""))
                .with("RESCALE", epilogue.twin("        ", "sum"))
                .with("OUT_BYTES", outBytes)
                .text();
    }

    private List<String> parameters() {
        List<String> parameters = new ArrayList<>(epilogue.kernelParameters());
        for (int tap = 0; tap < window.taps && areApart(); tap++) {
            parameters.add("int32_t row" + tap);
        }
        return parameters;
    }

    private String offsets() {
        return IntStream.range(0, window.taps).mapToObj(tap -> "row" + tap).collect(Collectors.joining(", "));
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.line("add r3, r2, r3, lsl #2");
        asm.line("push {r2, r3}");
        asm.line("1:");
        for (int line = 0; line < window.lines; line++) {
            for (int row = 0; row < window.taps + rows - 1; row++) {
                row(asm, line, row);
            }
        }
        asm.line("add r1, #%d", 8 * window.all());
        asm.line("add r0, #4");
        for (int c = 0; c < 4; c += 2) {
            epilogue.rescaleTwo(asm, sums(c), sums(c + 1), "[sp, #" + LATE + "]");
        }
        asm.line("ldr r12, [sp, #%d]", OUTPUT);
        for (int i = 4 * rows - 1; i > 0; i--) {
            asm.line("strb r%d, [r12, #%d]", 2 + i, i / 4 * outBytes + i % 4);
        }
        asm.line("strb r2, [r12], #4");
        asm.line("str r12, [sp, #%d]", OUTPUT);
        asm.line("ldr r10, [sp, #%d]", END);
        asm.line("cmp r12, r10");
        asm.line("bne 1b");
        asm.line("add sp, #8");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private DspEpilogue.Sums sums(int channel) {
        List<String> sums = List.of("r" + (2 + channel), "r" + (6 + channel)).subList(0, rows);
        return new DspEpilogue.Sums(sums, List.of(), false);
    }

    /** One row of the input: with the weights of the tap before for the second row, then with those of its own for the first. */
    private void row(AsmText asm, int line, int row) {
        int tap = line * window.taps + row;
        if (areApart()) {
            int late = epilogue.parameters().size();
            asm.line("ldr r10, [sp, #%d]", LATE + 4 * (late + row));
            asm.line("ldr r10, [r0, r10]");
        } else {
            asm.line("ldr r10, [r0, #%d]", line * window.lineBytes + row * window.tapBytes);
        }
        if (rows == 1) {
            loadWeights(asm, tap);
        }
        asm.line("sxtb16 r11, r10, ror #8");
        asm.line("sxtb16 r10, r10");
        if (row > 0 && rows == 2) {
            multiply(asm, tap == 1, 6);
        }
        if (row < window.taps) {
            if (rows == 2) {
                loadWeights(asm, tap);
            }
            multiply(asm, tap == 0, 2);
        }
    }

    private void loadWeights(AsmText asm, int tap) {
        DspConvAsm.loadTwo(asm, isPaired && 8 * tap <= DspConvAsm.PAIR_REACH, "r12, lr", "r1, #" + 8 * tap);
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
