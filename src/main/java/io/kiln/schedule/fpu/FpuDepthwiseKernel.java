// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import static io.kiln.schedule.fpu.FpuFrame.registers;

import io.kiln.schedule.mve.MveText;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.Locale;

/**
 * The micro-kernel of {@link FpuDepthwise}: neighbouring pixels of four channels, by {@code VFMA}. An input is loaded
 * once for all windows of the pixels that contain it, a weight once for all pixels.
 *
 * <pre>
 *   s0...    sums: pixel by pixel      then   weights of a row of the window      then   an input
 *   r0 column; r1 bytes of a pixel; r2 bytes of a row; r3 bytes by which the buffer wraps around; r4 weights; r6 rows left
 *   r8 output; r9 arguments in memory; r10 biases; r11 blocks left; r12 row; lr rows before the buffer wraps around
 * </pre>
 *
 * @param tile pixels and columns
 * @param limits of the results
 */
record FpuDepthwiseKernel(PixelTile tile, FpuLimits limits) {
    private static final KernelText TEXT = KernelText.of("fpu/depthwise");

    static final int CHANNELS = 4;

    /** Where the kernel's arguments hold whether limits are left to C. */
    private static final int LATE = 60;

    Kernel kernel() {
        String name = "kiln_fpu_depthwise_" + tile.suffix() + limits.suffix();
        return frame().kernel(name, 8, definition(name));
    }

    private FpuFrame frame() {
        return new FpuFrame(tile.pixels(), CHANNELS, LATE, limits);
    }

    private String definition(String name) {
        KernelText text = TEXT.with("NAME", name)
                .with("PIXELS", tile.pixels())
                .with("TAPS", tile.taps())
                .with("STRIDE", tile.stride())
                .with("DILATION", tile.dilation())
                .with("BEGIN", tile.begin())
                .with("END", tile.end())
                .with("INSTRUCTIONS", MveText.lines(frame().around(first(), row())));
        return limits.in(text, tile.pixels(), CHANNELS, "stride").text();
    }

    /** Keeps the steps in registers, and lets the input point to the next block's channels. */
    private static String first() {
        return """
            ldrd r2, r3, [r9, #32]
            ldr r1, [r9, #16]
            ldr r12, [r9]
            add r0, r12, #16
            str r0, [r9]
            """;
    }

    /** A row of the windows, and the step to the next one. */
    private String row() {
        int weights = tile.pixels() * CHANNELS;
        int input = weights + tile.taps() * CHANNELS;
        return String.format(Locale.ROOT, """
            mov r0, r12
            vldmia r4!, %s
            %s\
            add r12, r12, r2
            subs lr, lr, #1
            it eq
            subeq r12, r12, r3
            """, registers(weights, tile.taps() * CHANNELS), columns(weights, input));
    }

    /** The products of a row of the windows. */
    private String columns(int weights, int input) {
        StringBuilder out = new StringBuilder();
        int at = tile.begin();
        for (int column = tile.begin(); column < tile.end(); column++) {
            StringBuilder products = new StringBuilder();
            for (int p = 0; p < tile.pixels(); p++) {
                for (int c = 0; tile.tap(p, column) >= 0 && c < CHANNELS; c++) {
                    products.append(String.format(
                            Locale.ROOT,
                            "vfma.f32 s%d, s%d, s%d\n",
                            p * CHANNELS + c,
                            input + c,
                            weights + tile.tap(p, column) * CHANNELS + c));
                }
            }
            if (!products.isEmpty()) {
                out.append("add r0, r0, r1\n".repeat(column - at));
                out.append(String.format(Locale.ROOT, "vldmia r0, %s\n", registers(input, CHANNELS)))
                        .append(products);
                at = column;
            }
        }
        return out.toString();
    }
}
