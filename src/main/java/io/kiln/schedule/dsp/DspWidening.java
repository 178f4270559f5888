// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.AsmText;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Assembly that widens the windows of two neighbouring pixels, or of the first one, to 16 bits, four inputs at a time: 0 and 2 of the first pixel, 0 and 2 of the
 * second, 1 and 3 of the first, 1 and 3 of the second.
 *
 * <pre>
 * r0        scratch                         r1     rounds left
 * r2  r3    inputs of the first and the second pixel
 * r4 to r7  fours of inputs                 r8 to r11   halves
 * </pre>
 *
 * <p>Eight inputs of both pixels are 20 instructions.
 *
 * @param offsets offsets of inputs from a pixel's first one; whole fours
 * @param rest inputs of a run after the last whole four, 0 to 3; if there are some, offsets count from 0 without gaps
 * @param pitch bytes from a pixel's inputs to the next one's
 * @param kind part of a kernel's name: everything that the offsets depend on
 */
record DspWidening(List<Integer> offsets, int rest, int pitch, String kind) {
    /** Fours of inputs of both pixels that take straight code, and how many more a loop has. */
    private static final int STRAIGHT = 8;

    private static final int FOUR_BYTES = 16;

    DspWidening {
        offsets = List.copyOf(offsets);
    }

    /**
     * The windows of a convolution, if all of them are runs of the input, or are copied so that they lie at constant offsets. Channels are
     * whole blocks, or fewer than one.
     */
    static Optional<DspWidening> of(ConvComputation conv) {
        if (conv.groups() > 1 || (conv.channels() > DspConv.BLOCK && conv.channels() % DspConv.BLOCK != 0)) {
            return Optional.empty();
        }
        if (DspPaddedRows.areFor(conv)) {
            return Optional.of(DspPaddedRows.widening(conv));
        }
        Window w = conv.window();
        boolean isRun = w.kernelH() == 1 && !w.isPadded() && !DspWindow.isDilated(conv) && conv.taps() >= 4;
        return isRun ? Optional.of(ofRun(conv.taps(), pitch(conv))) : Optional.empty();
    }

    /** Elements of the input from the window of a pixel to that of the next one. */
    static int pitch(ConvComputation conv) {
        return conv.window().strideW() * conv.input().dim(3);
    }

    /** Inputs that lie one after the other: at least four. */
    private static DspWidening ofRun(int inputs, int pitch) {
        List<Integer> offsets = IntStream.range(0, inputs / 4 * 4).boxed().toList();
        return new DspWidening(offsets, inputs % 4, pitch, "run");
    }

    /** Inputs at offsets, whole fours. */
    static DspWidening of(int[] offsets, int pitch, String kind) {
        return new DspWidening(Arrays.stream(offsets).boxed().toList(), 0, pitch, kind);
    }

    String suffix() {
        return kind + "_step" + pitch;
    }

    int inputs() {
        return offsets.size() + rest;
    }

    private boolean isRun() {
        return kind.equals("run");
    }

    /** C's expression for the offset of input {@code i}. */
    String place() {
        return isRun() ? "i" : "places[i]";
    }

    /** C's line that declares the offsets. */
    String places() {
        String numbers = offsets.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return isRun() ? "" : "  static const int16_t places[" + offsets.size() + "] = {" + numbers + "};\n";
    }

    private int rounds() {
        int fours = offsets.size() / 4;
        return isRun() && fours >= 2 * STRAIGHT ? fours / STRAIGHT : 0;
    }

    /** Whether r0 is changed. */
    boolean movesScratch() {
        return rounds() > 0;
    }

    void emit(AsmText asm, int pixels) {
        int rounds = rounds();
        int fours = offsets.size() / 4 - rounds * STRAIGHT;
        if (rounds > 0) {
            asm.line("mov r1, #%d", rounds);
            asm.line("4:");
            fours(asm, pixels, STRAIGHT);
            asm.line("add r0, #%d", FOUR_BYTES * STRAIGHT);
            asm.line("add r2, #%d", 4 * STRAIGHT);
            asm.line("add r3, #%d", 4 * STRAIGHT);
            asm.line("subs r1, #1");
            asm.line("bne 4b");
        }
        fours(asm, pixels, fours);
        if (rest > 0) {
            rest(asm, pixels, fours);
        }
    }

    private void fours(AsmText asm, int pixels, int count) {
        for (int i = 0; i < count; i += 2) {
            int together = Math.min(2, count - i);
            for (int k = 0; k < together; k++) {
                load(asm, pixels, 4 + 2 * k, offsets.subList(4 * (i + k), 4 * (i + k) + 4));
            }
            for (int k = 0; k < together; k++) {
                widen(asm, pixels, 4 + 2 * k, 8 + 2 * k);
            }
            for (int k = 0; k < together; k++) {
                store(asm, pixels, 4 + 2 * k, 8 + 2 * k, i + k);
            }
        }
    }

    /** The last inputs of a run: the bytes that a word at its end has before them are shifted out. */
    private void rest(AsmText asm, int pixels, int fours) {
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line("ldr r%d, [r%d, #%d]", 4 + pixel, 2 + pixel, 4 * fours + rest - 4);
        }
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line("lsr r%d, r%d, #%d", 4 + pixel, 4 + pixel, 8 * (4 - rest));
        }
        widen(asm, pixels, 4, 8);
        store(asm, pixels, 4, 8, fours);
    }

    /** Loads four bytes of each pixel, neighbours in one go. */
    private static void load(AsmText asm, int pixels, int first, List<Integer> offsets) {
        int from = offsets.get(0);
        boolean areNeighbours = IntStream.range(1, 4).allMatch(i -> offsets.get(i) == from + i);
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line(areNeighbours ? "ldr r%d, [r%d, #%d]" : "ldrb r%d, [r%d, #%d]", first + pixel, 2 + pixel, from);
        }
        for (int i = 1; i < 4 && !areNeighbours; i++) {
            for (int pixel = 0; pixel < pixels; pixel++) {
                asm.line("ldrb r%d, [r%d, #%d]", 8 + pixel, 2 + pixel, offsets.get(i));
            }
            for (int pixel = 0; pixel < pixels; pixel++) {
                asm.line("orr r%d, r%d, r%d, lsl #%d", first + pixel, first + pixel, 8 + pixel, 8 * i);
            }
        }
    }

    /** From fours of both pixels in two registers to 0 and 2 in two others, 1 and 3 in the same. */
    private static void widen(AsmText asm, int pixels, int four, int even) {
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line("sxtb16 r%d, r%d", even + pixel, four + pixel);
            asm.line("sxtb16 r%d, r%d, ror #8", four + pixel, four + pixel);
        }
    }

    private static void store(AsmText asm, int pixels, int four, int even, int place) {
        for (int half = 0; half < 2; half++) {
            for (int pixel = 0; pixel < pixels; pixel++) {
                int register = (half == 0 ? even : four) + pixel;
                asm.line("str r%d, [r0, #%d]", register, FOUR_BYTES * place + 8 * half + 4 * pixel);
            }
        }
    }
}
