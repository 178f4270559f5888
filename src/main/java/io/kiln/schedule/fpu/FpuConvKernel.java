// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import io.kiln.schedule.mve.MveText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.Locale;

/**
 * The micro-kernel of {@link FpuConv}: sums of neighbouring pixels times a block of channels in registers, some taps at a
 * time, by {@code VFMA}, or some of them by {@code VMUL} and {@code VADD}. A multiple load fetches the taps of a pixel, and another one the
 * weights of these taps; of a single pixel, as many of them as fit the registers.
 *
 * <pre>
 *   s0...    sums: pixel by pixel      then   weights      then   taps of each pixel, or of one after the other     then   products
 *   r0-r3 inputs of the pixels; r4 weights; r5 count; r6 rows left; r8 output; r9 arguments in memory; r10 biases
 *   r11 blocks left; r12 row of the input; lr rows before the input's buffer wraps around
 * </pre>
 *
 * <p>Limits from 0 on are applied to the bits of the results as integers, which order as floats do from 0 on; where a sum of
 * products of a block's results is NaN they are left to C, since NaN passes through.
 *
 * @param blocks what is computed together
 * @param limits of the results
 */
record FpuConvKernel(FpuBlocks blocks, FpuLimits limits) {
    private static final KernelText TEXT = KernelText.of("fpu/conv");

    /** Where the kernel's arguments hold whether limits are left to C. */
    private static final int LATE = 72;

    /** Steps that are unrolled; of four taps, half as many. */
    private static final int UNROLL = 4;

    Kernel kernel() {
        String name = "kiln_fpu_conv_" + blocks.suffix() + limits.suffix();
        return frame().kernel(name, 11, definition(name));
    }

    private FpuFrame frame() {
        return new FpuFrame(blocks.pixels(), blocks.channels(), LATE, limits);
    }

    private String definition(String name) {
        KernelText text = TEXT.with("NAME", name)
                .with("PIXELS", blocks.pixels())
                .with("CHANNELS", blocks.channels())
                .with("LOOP_TAPS", loopTaps())
                .with("STEP", blocks.taps())
                .with("INSTRUCTIONS", MveText.lines(frame().around("ldr r12, [r9]\n", row())));
        return limits.in(text, blocks.pixels(), blocks.channels(), "out_stride").text();
    }

    /** Steps that are unrolled. */
    private int unroll() {
        return blocks.taps() < 4 ? UNROLL : UNROLL / 2;
    }

    private int loopTaps() {
        return unroll() * blocks.taps();
    }

    /** A row of the window, and the step to the next one. */
    private String row() {
        return String.format(Locale.ROOT, """
            %s%s\
            ldr r5, [r9, #40]
            add r12, r12, r5
            ldr r5, [r9, #48]
            add r4, r4, r5
            subs lr, lr, #1
            itt eq
            ldreq r5, [r9, #44]
            subeq r12, r12, r5
            """, inputs(), products());
    }

    /** The taps of a row of the window: steps unrolled, then the other steps, then the taps that are left one by one. */
    private String products() {
        String last = blocks.taps() == 2 ? taps(1) : "7:\n" + taps(1) + "subs r5, r5, #1\nbne 7b\n";
        return String.format(Locale.ROOT, """
            ldr r5, [r9, #32]
            cmp r5, #0
            beq 4f
            3:
            %s\
            subs r5, r5, #1
            bne 3b
            4:
            ldr r5, [r9, #36]
            cmp r5, #0
            beq 6f
            lsrs r5, r5, #2
            beq 4f
            5:
            %s\
            subs r5, r5, #1
            bne 5b
            4:
            ldr r5, [r9, #36]
            ands r5, r5, #3
            beq 6f
            %s\
            6:
            """, taps(blocks.taps()).repeat(unroll()), taps(blocks.taps()), last);
    }

    private String inputs() {
        StringBuilder out = new StringBuilder("mov r0, r12\n");
        out.append(blocks.pixels() > 1 ? "ldr r5, [r9, #16]\n" : "");
        for (int p = 1; p < blocks.pixels(); p++) {
            out.append(String.format(Locale.ROOT, "add r%d, r%d, r5\n", p, p - 1));
        }
        return out.toString();
    }

    /** One tap, or all taps of a step. */
    private String taps(int count) {
        FpuProducts out = new FpuProducts(blocks.unfused(), blocks.sums() + blocks.weights() + blocks.inputs());
        int values = blocks.sums() + blocks.weights();
        int all = count * blocks.channels();
        int parts = (all + blocks.weights() - 1) / blocks.weights();
        int apart = blocks.inputs() / blocks.pixels() >= blocks.taps() ? blocks.taps() : 0;
        for (int part = 0; part < parts; part++) {
            int first = part * all / parts;
            int end = (part + 1) * all / parts;
            out.load("r4!", blocks.sums(), end - first);
            for (int p = 0; p < blocks.pixels() && part == 0 && apart > 0; p++) {
                out.load("r" + p + "!", values + apart * p, count);
            }
            for (int p = 0; p < blocks.pixels(); p++) {
                if (apart == 0 && part == 0) {
                    out.load("r" + p + "!", values, count);
                }
                for (int i = first; i < end; i++) {
                    int sum = p * blocks.channels() + i % blocks.channels();
                    out.add(sum, values + apart * p + i / blocks.channels(), blocks.sums() + i - first);
                }
            }
        }
        return out.text();
    }
}
