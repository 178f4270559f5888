// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The kernel that multiplies the factors of {@link DspWinograd} with blocks of four output channels, for two times two pixels.
 *
 * <pre>
 * r0        factors ({@link DspWinogradInput}), then the output
 * r1        weights ({@link DspWinogradWeights}) and constants
 * r2-r9     sums: of each channel those of the first two pixels, then those of the second two
 * r10 r11   factors                         r12 lr  weights
 * stack     m1, then m1 - m2, of all sums; inputs, output, end of the output[, late offset], then r7 and r11, which may be frame pointers
 * </pre>
 *
 * <p>A step of two inputs is 11 instructions for 16 products, which do the work of 24.
 *
 * @param channels input channels
 * @param pitch bytes from a pixel of the output to the next
 * @param epilogue the rescaling of the sums
 */
record DspWinogradKernel(int channels, int pitch, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/winograd");

    /** Largest number of unrolled steps: GCC keeps constants after the function, within 4 KiB. */
    private static final int MOST_UNROLLED = 12;

    private static final int SUMS = 8;
    private static final int INPUTS = 4 * SUMS;
    private static final int OUTPUT = INPUTS + 4;
    private static final int END = OUTPUT + 4;
    private static final int LATE = END + 4;

    private String name() {
        return "kiln_winograd_" + channels + "_out" + pitch + epilogue.suffix();
    }

    /** Steps of two inputs, for each kind of product. */
    private int steps() {
        return 3 * channels / 2;
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
        int constants = epilogue.constants();
        return epilogue.head(TEXT)
                .with("NAME", name())
                .with("PITCH", pitch)
                .with("CHANNELS", channels)
                .with("FACTORS", "kiln_winograd_input_" + channels)
                .with("ASSEMBLY", assembly())
                .with("INPUTS", 2 * steps())
                .with("STEPS", steps())
                .with("CONSTANTS_OF_FOUR", 4 * constants)
                .with("WEIGHT_SCALE", 1 << DspWinogradWeights.SCALE_BITS)
                .with("FIRST_CONSTANTS", 12 * steps())
                .with("NEXT_CONSTANTS", 4 * (steps() + constants))
                .with("BLOCK_WORDS", 16 * steps() + 8 * constants)
                .with("RESCALE", epilogue.twin("      ", "sum"))
                .text();
    }

    private String assembly() {
        AsmText asm = new AsmText();
        DspBlockArguments arguments = DspBlockArguments.of(epilogue);
        arguments.push(asm);
        asm.line("sub sp, #%d", INPUTS);
        asm.line("1:");
        products(asm, 0, "2");
        eachPair((a, place) -> asm.line("strd r%d, r%d, [sp, #%d]", a, a + 1, place));
        products(asm, 1, "3");
        eachPair((a, place) -> combine(asm, a, place));
        products(asm, 2, "4");
        finish(asm, 0);
        asm.line("ldr r0, [sp, #%d]", INPUTS);
        asm.line("add r0, #%d", 3 * 8 * steps());
        eachPair((a, place) -> asm.line("ldrd r%d, r%d, [sp, #%d]", a, a + 1, place));
        products(asm, 3, "5");
        finish(asm, 1);
        asm.line("add r0, #4");
        asm.line("str r0, [sp, #%d]", OUTPUT);
        asm.line("ldr r10, [sp, #%d]", END);
        asm.line("cmp r0, r10");
        asm.line("ldr r0, [sp, #%d]", INPUTS);
        asm.line("bne 1b");
        return arguments.popped(asm, INPUTS);
    }

    /** Work on two neighbouring sums, given the first one's register and place. */
    @FunctionalInterface
    private interface PairBody {
        void emit(int register, int place);
    }

    private static void eachPair(PairBody body) {
        IntStream.range(0, SUMS / 2).forEach(i -> body.emit(2 + 2 * i, 8 * i));
    }

    /** From m1 on the stack and m2 in registers computes m1 - m2 on the stack and m1 + m2 in registers. */
    private static void combine(AsmText asm, int a, int place) {
        asm.line("ldrd r10, r11, [sp, #%d]", place);
        asm.line("sub r12, r10, r%d", a);
        asm.line("sub lr, r11, r%d", a + 1);
        asm.line("strd r12, lr, [sp, #%d]", place);
        asm.line("add r%d, r%d, r10", a, a);
        asm.line("add r%d, r%d, r11", a + 1, a + 1);
    }

    /** All products of one kind; sums start anew or go on. */
    private void products(AsmText asm, int kind, String label) {
        int unroll = steps() <= MOST_UNROLLED ? steps() : steps() / 2;
        if (kind < 2) {
            IntStream.range(2, 2 + SUMS).forEach(sum -> asm.line("mov r%d, #0", sum));
        }
        if (unroll < steps()) {
            asm.line("%s:", label);
        }
        asm.repeat(unroll, () -> step(asm));
        if (unroll < steps()) {
            asm.line("ldr r10, [sp, #%d]", INPUTS);
            asm.line("add r10, #%d", (kind + 1) * 8 * steps());
            asm.line("cmp r0, r10");
            asm.line("bne %sb", label);
        }
    }

    private static void step(AsmText asm) {
        asm.line("ldrd r10, r11, [r0], #8");
        for (int pair = 0; pair < 4; pair += 2) {
            asm.line("ldrd r12, lr, [r1], #8");
            for (int i = 0; i < 4; i++) {
                int sum = 2 + 2 * pair + i;
                asm.line("smlad r%d, %s, %s, r%d", sum, i % 2 == 0 ? "r10" : "r11", i < 2 ? "r12" : "lr", sum);
            }
        }
    }

    /** Rescales and stores the first or second pixel of both twos. */
    private void finish(AsmText asm, int pixel) {
        asm.line("ldr r0, [sp, #%d]", OUTPUT);
        for (int c = 0; c < 4; c++) {
            List<String> sums = List.of("r" + (2 + 2 * c), "r" + (3 + 2 * c));
            List<String> places =
                    List.of("[r0, #" + (pixel * pitch + c) + "]", "[r0, #" + ((pixel + 2) * pitch + c) + "]");
            epilogue.store(asm, new DspEpilogue.Sums(sums, List.of(), false), places, "[sp, #" + LATE + "]");
        }
    }
}
