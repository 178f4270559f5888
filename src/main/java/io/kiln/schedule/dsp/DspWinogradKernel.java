// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
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
 * stack     m1, then m1 - m2, of all sums; inputs, output, end of the output, then callee-saved registers[, late offset]
 * </pre>
 *
 * <p>A step of two inputs is 14 instructions for 16 products, which do the work of 24.
 *
 * @param channels input channels
 * @param pitch bytes from a pixel of the output to the next
 * @param epilogue the rescaling of the sums
 * @param isPaired see {@link DspConvShape}
 */
record DspWinogradKernel(int channels, int pitch, DspEpilogue epilogue, boolean isPaired) {
    private static final KernelText TEXT = KernelText.of("dsp/winograd");

    /** Largest number of unrolled steps. */
    private static final int MOST_UNROLLED = 24;

    /** Bytes of the inputs of a step; of weights twice as many. */
    private static final int STEP_BYTES = 8;

    private static final int SUMS = 8;
    private static final int INPUTS = 4 * SUMS;
    private static final int OUTPUT = INPUTS + 4;
    private static final int END = OUTPUT + 4;
    private static final int LATE = END + 40;

    private String name() {
        return "kiln_winograd_" + channels + "_out" + pitch + (isPaired ? "_paired" : "") + epilogue.suffix();
    }

    /** Steps of two inputs, for each kind of product. */
    private int steps() {
        return 3 * channels / 2;
    }

    Kernel kernel() {
        return epilogue.kernel(name(), 0, definition());
    }

    private String definition() {
        int constants = epilogue.constants();
        return epilogue.head(TEXT)
                .with("NAME", name())
                .with("UNUSED_PARAMETERS", DspConvKernel.unused(epilogue.kernelParameters()))
                .with("PARAMETERS", String.join(", ", epilogue.kernelParameters()))
                .with("PITCH", pitch)
                .with("CHANNELS", channels)
                .with("FACTORS", "kiln_winograd_input")
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
        asm.line("push {r4-r11, lr}");
        asm.line("add r3, r2, r3, lsl #2");
        asm.line("push {r0, r2, r3}");
        asm.line("sub sp, #%d", INPUTS);
        asm.line("1:");
        products(asm, 0, "2");
        eachPair((a, place) -> storeTwo(asm, "r" + a + ", r" + (a + 1), place));
        products(asm, 1, "3");
        eachPair((a, place) -> combine(asm, a, place));
        products(asm, 2, "4");
        finish(asm, 0);
        asm.line("ldr r0, [sp, #%d]", INPUTS);
        eachPair((a, place) -> asm.line("ldrd r%d, r%d, [sp, #%d]", a, a + 1, place));
        products(asm, 3, "5");
        finish(asm, 1);
        asm.line("add r0, #4");
        asm.line("str r0, [sp, #%d]", OUTPUT);
        asm.line("ldr r10, [sp, #%d]", END);
        asm.line("cmp r0, r10");
        asm.line("ldr r0, [sp, #%d]", INPUTS);
        asm.line("bne 1b");
        asm.line("add sp, #%d", END + 4);
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
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
    private void combine(AsmText asm, int a, int place) {
        asm.line("ldrd r10, r11, [sp, #%d]", place);
        asm.line("sub r12, r10, r%d", a);
        asm.line("sub lr, r11, r%d", a + 1);
        storeTwo(asm, "r12, lr", place);
        asm.line("add r%d, r%d, r10", a, a);
        asm.line("add r%d, r%d, r11", a + 1, a + 1);
    }

    private void storeTwo(AsmText asm, String registers, int place) {
        DspConvAsm.storeTwo(asm, isPaired, registers, "sp, #" + place);
    }

    /** All products of one kind; sums start anew or go on. */
    private void products(AsmText asm, int kind, String label) {
        int unroll = IntStream.rangeClosed(1, MOST_UNROLLED)
                .filter(count -> steps() % count == 0)
                .max()
                .orElseThrow();
        boolean startsAnew = kind < 2;
        if (unroll == steps()) {
            int begin = kind * steps();
            steps(asm, begin, begin, startsAnew ? 1 : 0, true);
            steps(asm, begin, begin + (startsAnew ? 1 : 0), steps() - (startsAnew ? 1 : 0), false);
            asm.line("add r1, #%d", 2 * STEP_BYTES * steps());
            return;
        }
        if (startsAnew) {
            IntStream.range(2, 2 + SUMS).forEach(sum -> asm.line("mov r%d, #0", sum));
        } else if (kind == 3) {
            asm.line("add r0, #%d", kind * STEP_BYTES * steps());
        }
        asm.line("%s:", label);
        steps(asm, 0, 0, unroll, false);
        asm.line("ldr r10, [sp, #%d]", INPUTS);
        asm.line("add r0, #%d", STEP_BYTES * unroll);
        asm.line("add r1, #%d", 2 * STEP_BYTES * unroll);
        asm.line("add r10, #%d", (kind + 1) * STEP_BYTES * steps());
        asm.line("cmp r0, r10");
        asm.line("bne %sb", label);
    }

    /**
     * Steps of two inputs.
     *
     * @param origin the step whose weights r1 points to
     * @param from the first one
     */
    private void steps(AsmText asm, int origin, int from, int count, boolean starts) {
        asm.repeatFrom(STEP_BYTES * from, STEP_BYTES, count, () -> step(asm, STEP_BYTES * origin, starts));
    }

    private void step(AsmText asm, int origin, boolean starts) {
        DspConvAsm.loadTwo(asm, isPaired, "r10, r11", "r0, #" + AsmText.AT);
        for (int pair = 0; pair < 4; pair += 2) {
            String weights = "r1, #(" + AsmText.AT + " - " + origin + ") * 2 + " + 4 * pair;
            DspConvAsm.loadTwo(asm, isPaired, "r12, lr", weights);
            for (int i = 0; i < 4; i++) {
                String sum = "r" + (2 + 2 * pair + i);
                DspConvAsm.multiply(asm, starts, sum, i % 2 == 0 ? "r10" : "r11", i < 2 ? "r12" : "lr");
            }
        }
    }

    /** Rescales and stores the first or second pixel of both pairs. */
    private void finish(AsmText asm, int pixel) {
        String late = "[sp, #" + LATE + "]";
        for (int c = 0; c < 4; c += 2) {
            epilogue.rescaleTwo(asm, sums(c), sums(c + 1), late);
        }
        asm.line("ldr r0, [sp, #%d]", OUTPUT);
        for (int second = 0; second < 2; second++) {
            for (int c = 0; c < 4; c++) {
                asm.line("strb r%d, [r0, #%d]", 2 + 2 * c + second, (pixel + 2 * second) * pitch + c);
            }
        }
    }

    private static DspEpilogue.Sums sums(int channel) {
        return new DspEpilogue.Sums(List.of("r" + (2 + 2 * channel), "r" + (3 + 2 * channel)), List.of(), false);
    }
}
