// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.AsmText;
import java.util.Optional;

/**
 * Assembly that widens the windows of two neighbouring pixels, or of the first one, to 16 bits, four inputs at a time: 0 and 2 of the first
 * pixel, 0 and 2 of the second, 1 and 3 of the first, 1 and 3 of the second.
 *
 * <pre>
 * r0        scratch                         r1     fours left
 * r2  r3    inputs of the first and the second pixel
 * r4 to r7  fours of inputs                 r8 to r11   halves
 * r12 lr    rows and runs left
 * </pre>
 *
 * <p>Eight inputs of both pixels are 20 instructions.
 */
sealed interface DspWidening permits DspPlaces, DspRuns {
    /** Bytes of scratch for four inputs. */
    int FOUR_BYTES = 16;

    /**
     * The windows of a convolution, if all of them are runs of the input, or the rows under them are copied so that all of a window lies
     * inside.
     */
    static Optional<DspWidening> of(ConvComputation conv) {
        if (conv.groups() > 1) {
            return Optional.empty();
        }
        if (DspPaddedRows.areFor(conv)) {
            return Optional.of(DspPaddedRows.widening(conv));
        }
        Window w = conv.window();
        boolean isRun = w.kernelH() == 1 && !w.isPadded() && !DspWindow.isDilated(conv) && conv.taps() >= 4;
        return isRun ? Optional.of(DspRuns.single(conv.taps(), pitch(conv))) : Optional.empty();
    }

    /** Elements of the input from the window of a pixel to that of the next one. */
    static int pitch(ConvComputation conv) {
        return conv.window().strideW() * conv.input().dim(3);
    }

    /** Part of a kernel's name. */
    String suffix();

    /** Inputs of a window, some of which may have no weight. */
    int inputs();

    /** Bytes from a pixel's inputs to the next one's. */
    int pitch();

    /** C's expression for the offset of input {@code i}. */
    String place();

    /** C's line that declares what {@link #place} uses; may be empty. */
    String places();

    /** Whether r0 is changed. */
    boolean movesScratch();

    /** Appends the instructions. */
    void emit(AsmText asm, int pixels);

    /** Widens a four of each pixel in two registers: 0 and 2 go to two others, 1 and 3 stay. */
    static void widen(AsmText asm, int pixels, int four, int even) {
        for (int pixel = 0; pixel < pixels; pixel++) {
            asm.line("sxtb16 r%d, r%d", even + pixel, four + pixel);
            asm.line("sxtb16 r%d, r%d, ror #8", four + pixel, four + pixel);
        }
    }

    /** Stores what {@link #widen} leaves. */
    static void store(AsmText asm, int pixels, int four, int even, int place) {
        for (int half = 0; half < 2; half++) {
            for (int pixel = 0; pixel < pixels; pixel++) {
                int register = (half == 0 ? even : four) + pixel;
                asm.line("str r%d, [r0, #%d]", register, FOUR_BYTES * place + 8 * half + 4 * pixel);
            }
        }
    }
}
