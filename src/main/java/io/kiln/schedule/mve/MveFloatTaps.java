// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;

/**
 * The micro-kernels of {@link MveFloatDepthwise}: four channels at a time, with remaining channels predicated.
 *
 * <pre>
 *   q0-q3   sums of the pixels       q4  an input       q5-q7   weights
 *   r0 walks; r1 bytes of a pixel; x, w, sums: the four channels of the first pixel or tap
 * </pre>
 *
 * @param pixels number of neighbouring pixels, at most 4
 * @param taps number of neighbouring taps, at most {@link #MOST_TAPS}
 * @param stride pixels of the input from one pixel to the next
 * @param dilation likewise from tap to tap
 */
record MveFloatTaps(int pixels, int taps, int stride, int dilation) {
    private static final KernelText TEXT = KernelText.of("mve/float_taps");

    static final int MOST_TAPS = 3;

    /** {@code start(bias, sums, channels, pixels)}. */
    static final Kernel START = Kernel.inFile(
            "mve/kiln_mve_depthf_start",
            List.of(Pointer.in(DType.FLOAT32), Pointer.out(DType.FLOAT32)),
            List.of(DType.INT32, DType.INT32));

    /** {@code limit(values, count, low, high)}; limits are the bits of floats, since they may be infinite. */
    static final Kernel LIMIT = Kernel.inFile(
            "mve/kiln_mve_depthf_limit",
            List.of(Pointer.out(DType.FLOAT32)),
            List.of(DType.INT32, DType.INT32, DType.INT32));

    Kernel kernel() {
        String name = "kiln_mve_depthf_" + pixels + "x" + taps + (stride == 1 ? "" : "_s" + stride)
                + (dilation == 1 ? "" : "_d" + dilation);
        return new Kernel(
                name,
                List.of(Pointer.in(DType.FLOAT32), Pointer.in(DType.FLOAT32), Pointer.out(DType.FLOAT32)),
                List.of(DType.INT32),
                List.of(),
                definition(name),
                List.of());
    }

    private String definition(String name) {
        return TEXT.with("PIXELS", pixels)
                .with("TAPS", taps)
                .with("STRIDE", stride)
                .with("DILATION", dilation)
                .with("NAME", name)
                .with("INSTRUCTIONS", MveText.lines(instructions()))
                .text();
    }

    private String instructions() {
        StringBuilder out = new StringBuilder("lsl r1, %[count], #2\ndlstp.32 lr, %[count]\n1:\n");
        walk(out, "vldrw", "w", 5, taps);
        walk(out, "vldrw", "sums", 0, pixels);
        out.append("mov r0, %[x]\n");
        int last = (pixels - 1) * stride + (taps - 1) * dilation;
        for (int column = 0; column <= last; column++) {
            StringBuilder products = new StringBuilder();
            for (int p = 0; p < pixels; p++) {
                int offset = column - p * stride;
                if (offset >= 0 && offset % dilation == 0 && offset / dilation < taps) {
                    products.append(String.format(Locale.ROOT, "vfma.f32 q%d, q4, q%d\n", p, 5 + offset / dilation));
                }
            }
            out.append(products.isEmpty() ? "" : "vldrw.32 q4, [r0]\n" + products);
            out.append(column < last ? "add r0, r0, r1\n" : "");
        }
        walk(out, "vstrw", "sums", 0, pixels);
        out.append("add %[x], %[x], #16\nadd %[w], %[w], #16\nadd %[sums], %[sums], #16\nletp lr, 1b\n");
        return out.toString();
    }

    /** Loads or stores vectors that are a pixel apart. */
    private static void walk(StringBuilder out, String instruction, String base, int register, int count) {
        out.append(instruction).append(String.format(Locale.ROOT, ".32 q%d, [%%[%s]]\n", register, base));
        for (int i = 1; i < count; i++) {
            out.append(i == 1 ? String.format(Locale.ROOT, "add r0, %%[%s], r1\n", base) : "add r0, r0, r1\n");
            out.append(instruction).append(String.format(Locale.ROOT, ".32 q%d, [r0]\n", register + i));
        }
    }
}
