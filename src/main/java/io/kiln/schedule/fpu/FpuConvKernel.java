// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.fpu;

import io.kiln.schedule.mve.MveText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.List;

/**
 * The micro-kernel of {@link FpuConv}: sums of neighbouring pixels times a block of channels in registers, two taps at a
 * time, by {@code VFMA}, or by {@code VMUL} and {@code VADD}. A multiple load fetches both taps of a pixel, and the weights of both taps.
 *
 * <pre>
 *   s0...    sums: pixel by pixel      then   weights of two taps      then   two taps of each pixel     then   two products
 *   r0-r3 inputs of the pixels; r4 weights; r5 count; r6 rows left; r8 output; r9 arguments in memory; r10 biases
 *   r11 blocks left; r12 row of the input; lr rows before the input's buffer wraps around
 * </pre>
 *
 * <p>Limits from 0 on are applied to the bits of the results as integers, which order as floats do from 0 on; where a sum of
 * products of a block's results is NaN they are left to C, since NaN passes through.
 *
 * @param pixels computed together, at most 4
 * @param channels of a block, a multiple of 4; with the pixels, sums and operands of two taps fit 32 registers
 * @param unfused whether products are added by instructions of their own, which a Cortex-M4 executes in two cycles in place of three
 * @param limits of the results
 */
record FpuConvKernel(int pixels, int channels, boolean unfused, FpuLimits limits) {
    private static final KernelText TEXT = KernelText.of("fpu/conv");

    /** Where the kernel's arguments hold whether limits are left to C. */
    private static final int LATE = 72;

    /** Pairs of taps that are unrolled. */
    private static final int UNROLL = 4;

    Kernel kernel() {
        String name = "kiln_fpu_conv_%dx%d%s%s".formatted(pixels, channels, unfused ? "_unfused" : "", limits.suffix());
        return frame().kernel(name, 11, definition(name));
    }

    private FpuFrame frame() {
        return new FpuFrame(pixels, channels, LATE, limits);
    }

    private String definition(String name) {
        KernelText text = TEXT.with("NAME", name)
                .with("PIXELS", pixels)
                .with("CHANNELS", channels)
                .with("INSTRUCTIONS", MveText.lines(frame().around("ldr r12, [r9]\n", row())));
        return limits.in(text, pixels, channels, "out_stride").text();
    }

    /** A row of the window, and the step to the next one. */
    private String row() {
        return """
                %s%s\
                ldr r5, [r9, #40]
                add r12, r12, r5
                ldr r5, [r9, #48]
                add r4, r4, r5
                subs lr, lr, #1
                itt eq
                ldreq r5, [r9, #44]
                subeq r12, r12, r5
                """.formatted(inputs(), products());
    }

    /** The taps of a row of the window: pairs unrolled, then the other pairs, then the last tap of an odd number. */
    private String products() {
        return """
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
                lsrs r5, r5, #1
                beq 4f
                5:
                %s\
                subs r5, r5, #1
                bne 5b
                4:
                ldr r5, [r9, #36]
                lsls r5, r5, #31
                beq 6f
                %s\
                6:
                """.formatted(taps(2).repeat(UNROLL), taps(2), taps(1));
    }

    private String inputs() {
        StringBuilder out = new StringBuilder("mov r0, r12\n");
        out.append(pixels > 1 ? "ldr r5, [r9, #16]\n" : "");
        for (int p = 1; p < pixels; p++) {
            out.append("add r%d, r%d, r5\n".formatted(p, p - 1));
        }
        return out.toString();
    }

    /** One or two taps. */
    private String taps(int count) {
        int weights = pixels * channels;
        int values = weights + 2 * channels;
        StringBuilder out =
                new StringBuilder("vldmia r4!, %s\n".formatted(FpuFrame.registers(weights, count * channels)));
        for (int p = 0; p < pixels; p++) {
            out.append("vldmia r%d!, %s\n".formatted(p, FpuFrame.registers(values + 2 * p, count)));
        }
        List<Product> products = new ArrayList<>();
        for (int tap = 0; tap < count; tap++) {
            for (int p = 0; p < pixels; p++) {
                for (int c = 0; c < channels; c++) {
                    products.add(new Product(p * channels + c, values + 2 * p + tap, weights + tap * channels + c));
                }
            }
        }
        if (unfused) {
            addApart(out, products, values + 2 * pixels);
        } else {
            products.forEach(one -> out.append("vfma.f32 s%d, s%d, s%d\n".formatted(one.sum, one.value, one.weight)));
        }
        return out.toString();
    }

    /** A product, by the registers of its sum and factors. */
    private record Product(int sum, int value, int weight) {}

    /** Each product is added behind the next one, so that no addition waits. */
    private static void addApart(StringBuilder out, List<Product> products, int free) {
        for (int i = 0; i <= products.size(); i++) {
            if (i < products.size()) {
                Product next = products.get(i);
                out.append("vmul.f32 s%d, s%d, s%d\n".formatted(free + i % 2, next.value, next.weight));
            }
            if (i > 0) {
                int sum = products.get(i - 1).sum;
                out.append("vadd.f32 s%d, s%d, s%d\n".formatted(sum, sum, free + (i - 1) % 2));
            }
        }
    }
}
