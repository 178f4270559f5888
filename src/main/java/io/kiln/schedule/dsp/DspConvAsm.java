// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.List;

/**
 * The assembly that multiplies two pixels, or one, with blocks of four output channels.
 *
 * <pre>
 * r0        inputs, widened and interleaved: two of pixel 0, two of pixel 1
 * r1        weights of channels a b and c d ({@link DspWeights}), then the constants of the block's channels
 * r2  r3    pixel 0: 256 * A + B, B         r4 r5   256 * C + D, D
 * r6  r7    pixel 1: likewise               r8 r9
 * r10 r11   inputs                          r12 lr  weights; later r12 is the output
 * </pre>
 *
 * <p>A step of two inputs is 14 instructions for 16 products: 4 LDR in a row, 8 SMLAD, 2 SXTB16. With one pixel, of which scratch has the same
 * places, the registers of the other one hold weights: two steps are 18 instructions for 16 products. A block ends with about six
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
        block(asm);
        asm.line("ldr r10, [sp, #%d]", slots.weightsEnd);
        asm.line("cmp r1, r10");
        asm.line("bne 2b");
        if (shape.rest() > 0) {
            new DspConvAsm(shape.ofRest(), epilogue, slots).block(asm);
        }
    }

    private void block(AsmText asm) {
        steps(asm, true, 0, 1);
        steps(asm, false, 1, shape.first() / stepsTogether() - 1);
        asm.line("add r1, #%d", shape.weightBytes() * shape.first());
        if (shape.loop() > 0) {
            asm.line("add r0, #%d", DspConvShape.STEP_BYTES * shape.first());
            asm.line("3:");
            steps(asm, false, 0, shape.loop() / stepsTogether());
            asm.line("ldr r10, [sp, #%d]", slots.inputsEnd);
            asm.line("add r0, #%d", DspConvShape.STEP_BYTES * shape.loop());
            asm.line("add r1, #%d", shape.weightBytes() * shape.loop());
            asm.line("cmp r0, r10");
            asm.line("bne 3b");
        }
        finish(asm);
        asm.line("str r12, [sp, #%d]", slots.output);
        if (shape.loop() > 0) {
            asm.line("ldr r0, [sp, #%d]", slots.inputs);
        }
    }

    /** Steps of two inputs that are one step of the assembly. */
    private int stepsTogether() {
        return 3 - shape.pixels();
    }

    private void steps(AsmText asm, boolean start, int from, int count) {
        int bytes = DspConvShape.STEP_BYTES * stepsTogether();
        asm.repeatFrom(from * bytes, bytes, count, () -> {
            if (shape.pixels() == 1) {
                stepOfOne(asm, start);
            } else {
                step(asm, start);
            }
        });
    }

    /** Rescales and stores the sums of a block; leaves the end of the first pixel's outputs in r12. */
    void finish(AsmText asm) {
        rescale(asm);
        store(asm);
    }

    private void rescale(AsmText asm) {
        String late = "[sp, #" + slots.late + "]";
        for (int c = 0; c < shape.channels(); c += 2) {
            boolean isAlone = c + 1 == shape.channels();
            DspEpilogue.Sums first = new DspEpilogue.Sums(sums(c), isAlone ? List.of() : sums(c + 1), false);
            if (!isAlone) {
                epilogue.rescaleTwo(asm, first, new DspEpilogue.Sums(sums(c + 1), List.of(), true), late);
            } else {
                epilogue.rescale(asm, first, late);
            }
        }
    }

    private List<String> sums(int channel) {
        return List.of(PIXEL_0[channel], PIXEL_1[channel]).subList(0, shape.pixels());
    }

    private void store(AsmText asm) {
        asm.line("ldr r12, [sp, #%d]", slots.output);
        if (shape.pixels() == 2) {
            storeSecond(asm);
        }
        for (int c = shape.channels() - 1; c > 0; c--) {
            asm.line("strb %s, [r12, #%d]", PIXEL_0[c], c);
        }
        asm.line("strb %s, [r12], #%d", PIXEL_0[0], shape.channels());
    }

    private void storeSecond(AsmText asm) {
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
    }

    /** Two inputs of both pixels; the first step of a block starts the sums. */
    private void step(AsmText asm, boolean starts) {
        loadTwo(asm, shape.isPaired(), "r10, r11", "r0, #" + AsmText.AT);
        if (epilogue.range().isSummed() && shape.pairs() == 2) {
            loadTwo(asm, shape.isPaired(), "r12, lr", "r1, #" + weights());
        } else {
            asm.line("ldr r12, [r1, #%s]", weights());
        }
        if (!epilogue.range().isSummed()) {
            multiplyBytes(asm, starts, 0);
            if (shape.pairs() == 2) {
                asm.line("ldr r12, [r1, #%s + 4]", weights());
                multiplyBytes(asm, starts, 2);
            }
            return;
        }
        multiplyBoth(asm, starts, 0, "r12");
        extend(asm, 1, "r12");
        multiplyBoth(asm, starts, 2, "lr");
        extend(asm, 3, "lr");
        multiplyBoth(asm, starts, 1, "r12");
        multiplyBoth(asm, starts, 3, "lr");
    }

    /** Offset of a step's weights. */
    private String weights() {
        return shape.pairs() == 2 ? AsmText.AT : "(" + AsmText.AT + " / 2)";
    }

    /** Products of both pixels with the weights of a channel, if the block has it. */
    private void multiplyBoth(AsmText asm, boolean starts, int channel, String weights) {
        if (channel < shape.channels()) {
            multiply(asm, starts, PIXEL_0[channel], "r10", weights);
            multiply(asm, starts, PIXEL_1[channel], "r11", weights);
        }
    }

    /** Leaves the weights of a channel alone in a word of its own and the channel before, if the block has it. */
    private void extend(AsmText asm, int channel, String word) {
        if (channel < shape.channels()) {
            asm.line("sxtb16 %s, %s", word, word);
        }
    }

    /** Four inputs of one pixel; the first step of a block starts the sums. */
    private void stepOfOne(AsmText asm, boolean starts) {
        asm.line("ldr r10, [r0, #%s]", AsmText.AT);
        asm.line("ldr r11, [r0, #%s + 8]", AsmText.AT);
        List<String> weights = List.of("r6", "r7", "r8", "r9").subList(0, 2 * shape.pairs());
        for (int i = 0; i < weights.size(); i += 2) {
            loadTwo(
                    asm,
                    shape.isPaired(),
                    weights.get(i) + ", " + weights.get(i + 1),
                    "r1, #" + weights() + " + " + 4 * i);
        }
        for (int i = 0; i < weights.size(); i++) {
            String w = weights.get(i);
            boolean isFirst = i < shape.pairs();
            String x = isFirst ? "r10" : "r11";
            int channel = 2 * (i % shape.pairs());
            String both = w;
            if (!epilogue.range().isSummed()) {
                asm.line("sxtb16 r12, %s, ror #8", w);
                both = "r12";
            }
            multiply(asm, starts && isFirst, PIXEL_0[channel], x, both);
            if (channel + 1 < shape.channels()) {
                asm.line("sxtb16 %s, %s", w, w);
                multiply(asm, starts && isFirst, PIXEL_0[channel + 1], x, w);
            }
        }
    }

    /** Products with weights as bytes of two channels. */
    private void multiplyBytes(AsmText asm, boolean starts, int channel) {
        asm.line("sxtb16 lr, r12, ror #8");
        extend(asm, channel + 1, "r12");
        multiplyBoth(asm, starts, channel, "lr");
        multiplyBoth(asm, starts, channel + 1, "r12");
    }

    /** Two neighbouring words: in one instruction, or in two, which take less time in a row with other loads. */
    static void loadTwo(AsmText asm, boolean isPaired, String registers, String place) {
        move(asm, isPaired, "ldr", registers, place);
    }

    /** Stores two neighbouring words, likewise. */
    static void storeTwo(AsmText asm, boolean isPaired, String registers, String place) {
        move(asm, isPaired, "str", registers, place);
    }

    /** Reach of the offset of an instruction for two words. */
    static final int PAIR_REACH = 1020;

    private static final int WORD = 4;

    private static void move(AsmText asm, boolean isPaired, String instruction, String registers, String place) {
        if (isPaired) {
            asm.line("%sd %s, [%s]", instruction, registers, place);
        } else {
            int comma = registers.indexOf(", ");
            asm.line("%s %s, [%s]", instruction, registers.substring(0, comma), place);
            asm.line("%s %s, [%s]", instruction, registers.substring(comma + 2), behind(place));
        }
    }

    /** The place of the next word: the number at the end is greater by four, or is added. */
    private static String behind(String place) {
        int last = Math.max(place.lastIndexOf('#'), place.lastIndexOf(' ')) + 1;
        String number = place.substring(last);
        return number.chars().allMatch(Character::isDigit)
                ? place.substring(0, last) + (Integer.parseInt(number) + WORD)
                : place + " + " + WORD;
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
