// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import java.util.ArrayList;
import java.util.List;

/**
 * The assembly that multiplies neighbouring pixels, two by two or one by one, with one block of at most three output channels: inputs are
 * widened where they are multiplied, because no other block needs them.
 *
 * <pre>
 * r0        inputs                          r1      weights ({@link DspWeights}), then the constants of the channels
 * r2  r3    pixel 0: 256 * A + B, B         r4      256 * C
 * r6  r7    pixel 1: likewise               r8
 * r10 r11   inputs of both pixels           r5 r9   0 and 2 of these, widened     r12 lr  weights
 * stack     end of a run, end of the window's rows, inputs, weights, output, end of the output, then callee-saved registers, count, blocks[, late]
 * </pre>
 *
 * <p>Four inputs of two pixels are 26 cycles for 24 products of three channels.
 *
 * @param runs where the inputs of a window are
 * @param shape sizes; one block
 * @param epilogue the rescaling of the sums
 */
record DspInPlaceAsm(DspRuns runs, DspConvShape shape, DspEpilogue epilogue) {
    /** Largest number of channels: two registers of those for sums hold inputs. */
    static final int MOST_CHANNELS = 3;

    /** Fours of inputs in a loop, and half of those in straight code. */
    private static final int STRAIGHT = 8;

    private static final int RUN_END = 0;
    private static final int ROWS_END = 4;
    private static final int WEIGHTS = 12;
    private static final int OUTPUT_END = 20;

    /** The inputs and the output of the next pixels; the parameter of the rescaling, behind the registers of the caller and two parameters. */
    private static final DspConvAsm.Slots SLOTS = new DspConvAsm.Slots(8, 16, 0, 0, 68);

    private static final List<String> PIXEL_0 = List.of("r2", "r3", "r4");
    private static final List<String> PIXEL_1 = List.of("r6", "r7", "r8");

    /** Whether windows of so many runs side by side are few enough instructions. */
    static boolean suits(DspRuns runs) {
        return runs.columns().count() == 1 || runs.columns().count() * runs.filled() <= 16 * STRAIGHT;
    }

    /** The body of a naked function {@code (x, in, weights, out, count, blocks[, late])}, of which x and blocks are not used. */
    String text() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.line("ldr r0, [sp, #36]");
        asm.move("r4", shape.pixels() * shape.pitch());
        asm.line("mla r4, r0, r4, r3");
        asm.line("mov r0, r1");
        asm.line("mov r1, r2");
        asm.line("push {r0, r1, r3, r4}");
        asm.line("sub sp, #8");
        asm.line("1:");
        if (runs.rows().count() > 1) {
            asm.add("r10", "r0", runs.rows().count() * runs.rows().distance(), "r11");
            asm.line("str r10, [sp, #%d]", ROWS_END);
        }
        sums().forEach(sum -> asm.line("mov %s, #0", sum));
        asm.line("2:");
        int moved = row(asm);
        move(asm, runs.rows().distance() - moved);
        if (runs.rows().count() > 1) {
            asm.line("ldr r10, [sp, #%d]", ROWS_END);
            asm.line("cmp r0, r10");
            asm.line("bne 2b");
        }
        finish(asm);
        asm.line("bne 1b");
        asm.line("add sp, #24");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    private List<String> sums() {
        List<String> sums = new ArrayList<>(PIXEL_0.subList(0, shape.channels()));
        if (shape.pixels() == 2) {
            sums.addAll(PIXEL_1.subList(0, shape.channels()));
        }
        return sums;
    }

    /** Goes on by some bytes of the input, as far as an immediate reaches. */
    private static void move(AsmText asm, int bytes) {
        if (bytes != 0) {
            asm.line("%s r0, #%d", bytes < 0 ? "sub" : "add", Math.abs(bytes));
        }
    }

    /** The runs of a row of the window; gives the bytes by which r0 has moved. */
    private int row(AsmText asm) {
        int fours = runs.filled() / 4;
        int rounds = runs.columns().count() == 1 && fours >= 2 * STRAIGHT ? fours / STRAIGHT : 0;
        if (rounds > 0) {
            asm.line("add r10, r0, #%d", 4 * STRAIGHT * rounds);
            asm.line("str r10, [sp, #%d]", RUN_END);
            asm.line("3:");
            run(asm, 0, 0, STRAIGHT);
            asm.line("add r0, #%d", 4 * STRAIGHT);
            asm.line("add r1, #%d", STRAIGHT * fourBytes());
            asm.line("ldr r10, [sp, #%d]", RUN_END);
            asm.line("cmp r0, r10");
            asm.line("bne 3b");
        }
        int rest = fours - STRAIGHT * rounds;
        for (int column = 0; column < runs.columns().count(); column++) {
            run(asm, column * runs.columns().distance(), column * rest * fourBytes(), rest);
        }
        if (rest > 0) {
            asm.line("add r1, #%d", runs.columns().count() * rest * fourBytes());
        }
        return 4 * STRAIGHT * rounds;
    }

    /** Bytes of the weights of four inputs. */
    private int fourBytes() {
        return 2 * shape.weightBytes();
    }

    private void run(AsmText asm, int input, int weights, int fours) {
        asm.repeatFrom(0, 4, fours, () -> {
            String at = AsmText.AT + " + " + input;
            asm.line("ldr r10, [r0, #%s]", at);
            if (shape.pixels() == 2) {
                asm.line("ldr r11, [r0, #%s + %d]", at, runs.pitch());
            }
            String w = AsmText.AT + " * " + fourBytes() / 4 + " + " + weights;
            String next = w + " + " + shape.weightBytes();
            loadWeights(asm, w);
            widen(asm, "", "r5", "r9");
            multiply(asm, w, "r5", "r9");
            loadWeights(asm, next);
            widen(asm, ", ror #8", "r10", "r11");
            multiply(asm, next, "r10", "r11");
        });
    }

    /** Loads weights beside inputs, because loads in a row do not stall; of bytes only the first word, because unpacking takes a register. */
    private void loadWeights(AsmText asm, String offset) {
        if (shape.pairs() == 2 && epilogue.range().isSummed()) {
            DspConvAsm.loadTwo(asm, shape.isPaired(), "r12, lr", "r1, #" + offset);
        } else {
            asm.line("ldr r12, [r1, #%s]", offset);
        }
    }

    private void widen(AsmText asm, String which, String first, String second) {
        asm.line("sxtb16 %s, r10%s", first, which);
        if (shape.pixels() == 2) {
            asm.line("sxtb16 %s, r11%s", second, which);
        }
    }

    /** Products of the inputs in two registers with the weights of all channels. */
    private void multiply(AsmText asm, String weights, String first, String second) {
        boolean isSummed = epilogue.range().isSummed();
        if (!isSummed) {
            asm.line("sxtb16 lr, r12, ror #8");
        }
        products(asm, 0, first, second, isSummed ? "r12" : "lr");
        if (shape.channels() > 1) {
            asm.line("sxtb16 r12, r12");
            products(asm, 1, first, second, "r12");
        }
        if (shape.channels() > 2) {
            if (!isSummed) {
                asm.line("ldr lr, [r1, #%s + 4]", weights);
                asm.line("sxtb16 lr, lr, ror #8");
            }
            products(asm, 2, first, second, "lr");
        }
    }

    private void products(AsmText asm, int channel, String first, String second, String weights) {
        DspConvAsm.multiply(asm, false, PIXEL_0.get(channel), first, weights);
        if (shape.pixels() == 2) {
            DspConvAsm.multiply(asm, false, PIXEL_1.get(channel), second, weights);
        }
    }

    /** Rescales and stores the sums, goes on to the next pixels, and leaves whether there are any. */
    private void finish(AsmText asm) {
        new DspConvAsm(shape, epilogue, SLOTS).finish(asm);
        if (shape.pixels() == 2) {
            asm.line("add r12, #%d", shape.pitch());
        }
        asm.line("str r12, [sp, #%d]", SLOTS.output());
        asm.line("ldr r0, [sp, #%d]", SLOTS.inputs());
        asm.line("ldr r1, [sp, #%d]", WEIGHTS);
        asm.add("r0", "r0", shape.pixels() * runs.pitch(), "r10");
        asm.line("str r0, [sp, #%d]", SLOTS.inputs());
        asm.line("ldr r10, [sp, #%d]", OUTPUT_END);
        asm.line("cmp r12, r10");
    }
}
