// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * The assembly that multiplies two pixels with blocks of four output channels.
 *
 * <pre>
 * r0        inputs, widened and interleaved: two of pixel 0, two of pixel 1
 * r1        weights of channels a b and c d ({@link DspWeights}), then the constants of the block's channels
 * r2  r3    pixel 0: 256 * A + B, B         r4 r5   256 * C + D, D
 * r6  r7    pixel 1: likewise               r8 r9
 * r10 r11   inputs                          r12 lr  weights; later r12 is the output
 * </pre>
 *
 * <p>A step of two inputs is 14 instructions for 16 products: 4 LDR in a row, 8 SMLAD, 2 SXTB16. A block ends with about six
 * instructions for each of its eight outputs; they are stored together, because stores in a row do not stall.
 *
 * @param shape sizes
 * @param epilogue the rescaling of the sums
 * @param slots what lies where on the stack
 */
record DspConvAsm(DspConvShape shape, DspEpilogue epilogue, Slots slots) {
    private static final String[] PIXEL_0 = {"r2", "r3", "r4", "r5"};
    private static final String[] PIXEL_1 = {"r6", "r7", "r8", "r9"};

    /**
     * Offsets from the stack pointer.
     *
     * @param inputs where the widened inputs begin
     * @param output the next block of the output
     * @param inputsEnd where the widened inputs end
     * @param weightsEnd where the weights of all blocks end
     * @param late the parameter of the rescaling
     */
    record Slots(int inputs, int output, int inputsEnd, int weightsEnd, int late) {}

    /** All blocks of channels of two pixels, with inputs in r0 and weights in r1; leaves the end of the first pixel's outputs in r12. */
    void emit(AsmText asm) {
        asm.line("2:");
        asm.repeatFrom(0, DspConvShape.STEP_BYTES, 1, () -> step(asm, true));
        asm.repeatFrom(
                DspConvShape.STEP_BYTES, DspConvShape.STEP_BYTES, shape.first() - 1, () -> step(asm, false));
        asm.line("add r1, #%d", DspConvShape.STEP_BYTES * shape.first());
        if (shape.loop() > 0) {
            asm.line("add r0, #%d", DspConvShape.STEP_BYTES * shape.first());
            asm.line("3:");
            asm.repeatFrom(0, DspConvShape.STEP_BYTES, shape.loop(), () -> step(asm, false));
            asm.line("ldr r10, [sp, #%d]", slots.inputsEnd);
            asm.line("add r0, #%d", DspConvShape.STEP_BYTES * shape.loop());
            asm.line("add r1, #%d", DspConvShape.STEP_BYTES * shape.loop());
            asm.line("cmp r0, r10");
            asm.line("bne 3b");
        }
        rescale(asm);
        store(asm);
        asm.line("str r12, [sp, #%d]", slots.output);
        asm.line("ldr r10, [sp, #%d]", slots.weightsEnd);
        if (shape.loop() > 0) {
            asm.line("ldr r0, [sp, #%d]", slots.inputs);
        }
        asm.line("cmp r1, r10");
        asm.line("bne 2b");
    }

    private void rescale(AsmText asm) {
        String late = "[sp, #" + slots.late + "]";
        for (int c = 0; c < shape.channels(); c += 2) {
            DspEpilogue.Sums first = new DspEpilogue.Sums(
                    List.of(PIXEL_0[c], PIXEL_1[c]), List.of(PIXEL_0[c + 1], PIXEL_1[c + 1]), false);
            if (c + 1 < shape.channels()) {
                List<String> second = List.of(PIXEL_0[c + 1], PIXEL_1[c + 1]);
                epilogue.rescaleTwo(asm, first, new DspEpilogue.Sums(second, List.of(), true), late);
            } else {
                epilogue.rescale(asm, first, late);
            }
        }
    }

    private void store(AsmText asm) {
        asm.line("ldr r12, [sp, #%d]", slots.output);
        boolean isNear = shape.pitch() + shape.channels() <= AsmText.LOAD_REACH;
        String second = isNear ? "r12" : "lr";
        int offset = isNear ? shape.pitch() : 0;
        if (!isNear) {
            asm.move("lr", shape.pitch());
            asm.line("add lr, r12");
        }
        for (int c = 0; c < shape.channels(); c++) {
            asm.line("strb %s, [%s, #%d]", PIXEL_1[c], second, offset + c);
        }
        for (int c = shape.channels() - 1; c > 0; c--) {
            asm.line("strb %s, [r12, #%d]", PIXEL_0[c], c);
        }
        asm.line("strb %s, [r12], #%d", PIXEL_0[0], shape.channels());
    }

    /** Two inputs of both pixels; the first step of a block starts the sums. */
    private void step(AsmText asm, boolean starts) {
        asm.line("ldr r10, [r0, #%s]", AsmText.AT);
        asm.line("ldr r11, [r0, #%s + 4]", AsmText.AT);
        asm.line("ldr r12, [r1, #%s]", AsmText.AT);
        if (!epilogue.range().isSummed()) {
            multiplyBytes(asm, starts, 0);
            asm.line("ldr r12, [r1, #%s + 4]", AsmText.AT);
            multiplyBytes(asm, starts, 2);
            return;
        }
        asm.line("ldr lr, [r1, #%s + 4]", AsmText.AT);
        multiply(asm, starts, "r2", "r10", "r12");
        multiply(asm, starts, "r6", "r11", "r12");
        asm.line("sxtb16 r12, r12");
        multiply(asm, starts, "r4", "r10", "lr");
        multiply(asm, starts, "r8", "r11", "lr");
        asm.line("sxtb16 lr, lr");
        multiply(asm, starts, "r3", "r10", "r12");
        multiply(asm, starts, "r7", "r11", "r12");
        multiply(asm, starts, "r5", "r10", "lr");
        multiply(asm, starts, "r9", "r11", "lr");
    }

    /** Products with weights as bytes of two channels. */
    private static void multiplyBytes(AsmText asm, boolean starts, int channel) {
        asm.line("sxtb16 lr, r12, ror #8");
        asm.line("sxtb16 r12, r12");
        multiply(asm, starts, PIXEL_0[channel], "r10", "lr");
        multiply(asm, starts, PIXEL_1[channel], "r11", "lr");
        multiply(asm, starts, PIXEL_0[channel + 1], "r10", "r12");
        multiply(asm, starts, PIXEL_1[channel + 1], "r11", "r12");
    }

    /** Multiplies halves and adds both products to a sum, or starts it with them. */
    static void multiply(AsmText asm, boolean starts, String sum, String x, String w) {
        if (starts) {
            asm.line("smuad %s, %s, %s", sum, x, w);
        } else {
            asm.line("smlad %s, %s, %s, %s", sum, x, w, sum);
        }
    }
}
