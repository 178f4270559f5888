// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.DType;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.mve.MveText;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.IntImm;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Dot products of one or two runs of int16 with the int8 weights of four channels on MVE, eight taps at a time.
 *
 * <pre>
 *   r0  r2  r4  r6    sums of the first pixel        q4, q5   8 inputs of each pixel
 *   r8  r10 r12 lr    sums of the second             q0-q3    8 weights of each channel, widened by the load
 *   r9, r1 inputs; r5 weights; r3 sums in memory; r11 count; of these a call leaves r1 and r3 where they are
 * </pre>
 */
record MveWideKernel() implements DotKernel {
    private static final KernelText TEXT = KernelText.of("mve/dot16");

    private static final int CHANNELS = 4;
    private static final int STEP = 8;
    /** Unrolled steps: all of them if there are no more than this. */
    private static final int UNROLL = 12;

    /** Whether the weights fit 8 bits without their zero point. */
    static boolean suits(ConvComputation conv) {
        return conv.kernelZeroPoint() == 0;
    }

    @Override
    public String title() {
        return "mve_conv16";
    }

    @Override
    public String reason() {
        return "8 products to an instruction (MVE); what is summed in 32 bits is proven to fit";
    }

    @Override
    public int pixels() {
        return 2;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public int step() {
        return STEP;
    }

    @Override
    public DType sum() {
        return INT32;
    }

    @Override
    public DType table() {
        return INT8;
    }

    @Override
    public void put(ByteBuffer table, double weight) {
        table.put((byte) weight);
    }

    @Override
    public int weightBytes() {
        return 1;
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        block.call(
                kernel(inputs.size(), Math.toIntExact(((IntImm) taps).value())),
                DotKernel.arguments(inputs, weights, sums),
                List.of());
    }

    private Kernel kernel(int pixels, int taps) {
        String name = "kiln_mve_dot16_" + taps + "_" + pixels + "x" + CHANNELS;
        return new Kernel(
                name, parameters(INT16, pixels), List.of(), List.of(), definition(name, pixels, taps), List.of());
    }

    private static String definition(String name, int pixels, int taps) {
        String second = pixels == 2 ? "const int16_t* x1, " : "";
        return TEXT.with("TAPS", taps)
                .with("NAME", name)
                .with("PARAMETERS", "const int16_t* x0, " + second + "const int8_t* w, int32_t* sums")
                .with("LAST_INPUT", pixels == 2 ? "x1" : "x0")
                .with("INSTRUCTIONS", MveText.lines(instructions(pixels, taps)))
                .with("SECOND_SUMS", pixels == 2 ? "      sums[4 + c] += x1[k] * weight;\n" : "")
                .text();
    }

    private static String instructions(int pixels, int taps) {
        StringBuilder out = new StringBuilder("ldrd r0, r2, [r3]\nldrd r4, r6, [r3, #8]\n");
        out.append(pixels == 2 ? "ldrd r8, r10, [r3, #16]\nldrd r12, lr, [r3, #24]\n" : "");
        int steps = taps / STEP;
        int loops = steps > UNROLL ? steps / UNROLL : 0;
        if (loops > 0) {
            out.append("movw r11, #").append(loops).append("\n1:\n");
            out.append(step(pixels, "").repeat(UNROLL)).append("subs r11, r11, #1\nbne 1b\n");
        }
        out.append(step(pixels, "").repeat(steps - loops * UNROLL));
        if (taps % STEP > 0) {
            out.append("mov r11, #").append(taps % STEP).append("\nvctp.16 r11\n");
            out.append(pixels == 2 ? "vpstt\n" : "vpst\n").append(step(pixels, "t"));
        }
        out.append("strd r0, r2, [r3]\nstrd r4, r6, [r3, #8]\n");
        out.append(pixels == 2 ? "strd r8, r10, [r3, #16]\nstrd r12, lr, [r3, #24]\n" : "");
        return out.toString();
    }

    /** Eight products for each sum; with predicated loads, inputs beyond the last tap are 0. */
    private static String step(int pixels, String predicated) {
        int[] sums = {0, 2, 4, 6, 8, 10, 12, 14};
        StringBuilder out = new StringBuilder("vldrh%s.16 q4, [r9], #16\n".formatted(predicated));
        out.append(pixels == 2 ? "vldrh%s.16 q5, [r1], #16\n".formatted(predicated) : "");
        for (int c = 0; c < CHANNELS; c++) {
            out.append("vldrb.s16 q%d, [r5], #8\n".formatted(c));
            for (int p = 0; p < pixels; p++) {
                out.append("vmladava.s16 r%d, q%d, q%d\n".formatted(sums[4 * p + c], c, 4 + p));
            }
        }
        return out.toString();
    }
}
