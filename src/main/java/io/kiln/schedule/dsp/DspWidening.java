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
 * r4 to r7  fours of inputs                 r8 to r11   halves; the other way round where they are stored together
 * r12 lr    rows and runs left
 * </pre>
 *
 * <p>Eight inputs of both pixels are 20 instructions, or 14 where they are stored together.
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

    /** Whether r0 is changed although halves are stored one by one. */
    boolean movesScratch();

    /** Appends the instructions. */
    void emit(AsmText asm, Form form);

    /**
     * How fours are widened. One or two fours of each pixel, numbers 0 and 1, are in registers at the same time.
     *
     * @param pixels 1 or 2
     * @param isStoredTogether whether four halves are stored by one instruction, which moves r0: fewer instructions than one by one, but not
     *     fewer cycles; only for two pixels
     */
    record Form(int pixels, boolean isStoredTogether) {
        /** First of the registers into which a four of each pixel is loaded. */
        int loaded(int number) {
            return (isStoredTogether ? 8 : 4) + 2 * number;
        }

        /** First of the registers for inputs 0 and 2 of these; 1 and 3 stay where they are. */
        private int even(int number) {
            return (isStoredTogether ? 4 : 8) + 2 * number;
        }

        /** First of the registers that are free until fours are widened. */
        int free() {
            return even(0);
        }

        /** Widens a four of each pixel. */
        void widen(AsmText asm, int number) {
            for (int pixel = 0; pixel < pixels; pixel++) {
                int four = loaded(number) + pixel;
                asm.line("sxtb16 r%d, r%d", even(number) + pixel, four);
                asm.line("sxtb16 r%d, r%d, ror #8", four, four);
            }
        }

        /**
         * Stores what {@link #widen} leaves.
         *
         * @param place fours from r0 on, unless r0 has moved
         */
        void store(AsmText asm, int number, int place) {
            int even = even(number);
            int odd = loaded(number);
            if (isStoredTogether) {
                asm.line("stm r0!, {r%d, r%d, r%d, r%d}", even, even + 1, odd, odd + 1);
                return;
            }
            for (int half = 0; half < 2; half++) {
                for (int pixel = 0; pixel < pixels; pixel++) {
                    int register = (half == 0 ? even : odd) + pixel;
                    asm.line("str r%d, [r0, #%d]", register, FOUR_BYTES * place + 8 * half + 4 * pixel);
                }
            }
        }
    }
}
