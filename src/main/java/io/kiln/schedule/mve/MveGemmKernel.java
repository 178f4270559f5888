// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The micro-kernel of {@link MveGemm}: dot products of a run of pixels with blocks of output channels, rescaled to int8.
 *
 * <pre>
 * two pixels x 4 channels                                one pixel x 8 channels
 *   r0  r2  r4  r6    accumulators of the first pixel      r0 r2 r4 r6   r8 r10 r12 lr   accumulators
 *   r8  r10 r12 lr    accumulators of the second
 *   q4, q5            16 inputs of each pixel              q4            16 inputs
 *   q0-q3             16 weights of each channel           q0-q3         16 weights of each channel, in turn
 *   r1, r3 inputs; r5 packed weights and constants; r9 state in memory; r11 count of the loop over the depth
 * </pre>
 *
 * <p>VMLADAV adds 16 products to an accumulator. At the end of a block its accumulators are collected into q0 and q1, four
 * channels each, and rescaled as vectors, for TensorFlow Lite's rounding: VQRDMULH is the reference's doubling high multiply, VRSHL its shift; VRSHL
 * rounds halves up, so that one is taken from negative values first unless the lower limit hides it.
 *
 * @param depth products of one dot product
 * @param pixels pixels computed together, 1 or 2
 * @param block channels computed together: 4, or 8 for a single pixel
 * @param end how sums become results
 * @param filled channels of the block that have weights: all of them, unless the layer has fewer
 * @param rest whether channels are not a multiple of the block
 * @param loop how the steps of 16 products are written
 */
record MveGemmKernel(int depth, int pixels, int block, int filled, MveEnd end, boolean rest, Loop loop) {
    private static final KernelText TEXT = KernelText.of("mve/gemm");

    static final int VECTOR = 16;

    /** More unrolled steps than the rules choose. */
    private static final int MANY = 9;

    private static final MveSteps.Instructions SET =
            new MveSteps.Instructions("vldrb.8", "vldrb.8", VECTOR, "vmladav.s8", "vmladava.s8");

    /**
     * How steps of 16 products are written.
     *
     * @param unroll number of them in the loop: all of them are written out if there are no more than this
     * @param isPipelined whether two pixels times four channels load for the next step between multiplications
     */
    record Loop(int unroll, boolean isPipelined) {}

    /** Bytes of a block: weights, then bias, multiplier and shift of each channel. */
    int blockBytes() {
        return filled * steps() * VECTOR + 12 * block;
    }

    int steps() {
        return (depth + VECTOR - 1) / VECTOR;
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                List.of(DType.INT32, DType.INT32, DType.INT32, DType.INT32, DType.INT32, DType.INT32),
                List.of(),
                definition(),
                Stream.concat(end.twins().stream(), Stream.of(MveText.WORD)).toList());
    }

    String name() {
        return "kiln_mve_gemm_" + depth + "_" + pixels + "x" + block + end.suffix()
                + (filled < block ? "_of" + filled : rest ? "_r" : "")
                + (loop.unroll > MANY ? "_unroll" + loop.unroll : "")
                + (isPipelined() ? "_pipelined" : "");
    }

    /** The kernel for a single pixel that reads the same table. */
    MveGemmKernel single() {
        return new MveGemmKernel(depth, 1, block, filled, end, rest, loop);
    }

    private String definition() {
        return end.in(TEXT)
                .with("PIXELS", pixels)
                .with("PIXEL_NAME", "pixel" + (pixels == 1 ? "" : "s"))
                .with("BLOCK", block)
                .with("FILLED", filled)
                .with("DEPTH", depth)
                .with("NAME", name())
                .with("END", rest ? "int32_t left" : "const int8_t* end")
                .with("FIRST", pixels == 1 ? "p" : "p + 1 < pixels || p == 0 ? p : p - 1")
                .with("SECOND", pixels == 1 ? "4" : "pixels > 1 ? channels : 0")
                .with(
                        "STATE_END",
                        rest ? "left = channels" : "end = packed + channels / " + block + " * " + blockBytes())
                .with("INSTRUCTIONS", MveText.lines(instructions()))
                .with("BLOCK_BYTES", blockBytes())
                .with("CONSTANTS", filled * steps() * VECTOR)
                .with("WORDS", 4 * block)
                .text();
    }

    /** Words of the state: inputs 0 and 4, outputs 8 and 12, zero point 16, end or channels left 20, packed 24, limits 28 and 32. */
    private String instructions() {
        StringBuilder out = new StringBuilder("ldr r5, [r9, #24]\n");
        if (end.limits()) {
            out.append("ldrd r0, r2, [r9, #28]\nvdup.32 q6, r0\nvdup.32 q7, r2\n");
        }
        out.append("1:\nldrd r1, r3, [r9]\n");
        int full = depth / VECTOR;
        MveSteps steps = new MveSteps(SET, pixels, filled, loop.unroll, isPipelined());
        steps.emit(out, full, true);
        if (depth % VECTOR > 0) {
            out.append("mov r11, #").append(depth % VECTOR).append("\nvctp.8 r11\n");
            steps.predicated(out, full > 0);
        }
        if (isPipelined() && !end.any() && end.floor().isEmpty()) {
            new MvePipelinedEnd(end).emit(out);
            store(out, "");
        } else {
            rescale(out);
            store(out, two() ? "ldrd r1, r3, [r9, #8]\nldr r2, [r9, #20]\n" : "ldr r1, [r9, #8]\nldr r2, [r9, #20]\n");
        }
        return out.toString();
    }

    private boolean isPipelined() {
        return loop.isPipelined && MveSteps.canPipeline(pixels, filled);
    }

    private boolean two() {
        return pixels * block == 8;
    }

    /** Collects the accumulators and brings them to the output's scale. */
    private void rescale(StringBuilder out) {
        boolean eight = block == 8;
        out.append("vmov q0[2], q0[0], r0, r4\nvmov q0[3], q0[1], r2, r6\n");
        if (two()) {
            out.append("vmov q1[2], q1[0], r8, r12\nvmov q1[3], q1[1], r10, r14\n");
        }
        if (end.any()) {
            roundAny(out, eight);
        } else if (end.floor().isPresent()) {
            roundDown(out, eight, end.floor().get());
        } else {
            roundTwice(out, eight);
        }
        for (int q = 0; q < (two() ? 2 : 1); q++) {
            out.append(String.format(
                    Locale.ROOT, end.any() ? "vqadd.s32 q%1$d, q%1$d, r0\n" : "vadd.i32 q%1$d, q%1$d, r0\n", q));
            out.append(String.format(
                    Locale.ROOT,
                    end.limits()
                            ? "vmax.s32 q%1$d, q%1$d, q6\nvmin.s32 q%1$d, q%1$d, q7\n"
                            : "vqmovnb.s16 q%1$d, q%1$d\n",
                    q));
        }
    }

    /** As TensorFlow Lite. */
    private void roundTwice(StringBuilder out, boolean eight) {
        both(out, eight, "vadd.i32 q%1$d, q%1$d, q%2$d\n", 2);
        both(out, eight, "vqrdmulh.s32 q%1$d, q%1$d, q%2$d\n", 2);
        out.append("ldr r0, [r9, #16]\n");
        for (int q = 0; q < (end.negatives() ? (two() ? 2 : 1) : 0); q++) {
            out.append(
                    String.format(Locale.ROOT, "vshr.s32 q%1$d, q%2$d, #31\nvadd.i32 q%2$d, q%2$d, q%1$d\n", 2 + q, q));
        }
        both(out, eight, "vrshl.s32 q%1$d, q%1$d, q%2$d\n", 2);
    }

    /** As TensorFlow Lite, with shifts to the left too; multipliers are loaded before the shifts behind them. */
    private void roundAny(StringBuilder out, boolean eight) {
        both(out, eight, "vadd.i32 q%1$d, q%1$d, q%2$d\n", 2);
        for (int q = 0; q < (two() ? 2 : 1); q++) {
            int place = eight ? VECTOR * q : 0;
            out.append(String.format(Locale.ROOT, "vldrb.8 q2, [r5, #%d]\n", 4 * block + place));
            out.append(MveEnd.anyShift(q, 2, 4, String.format(Locale.ROOT, "vldrb.8 q4, [r5, #%d]", place)));
        }
        out.append(String.format(Locale.ROOT, "add r5, r5, #%d\nldr r0, [r9, #16]\n", 8 * block));
    }

    /** As ONNX Runtime. */
    private void roundDown(StringBuilder out, boolean eight, MveFloor floor) {
        int results = two() ? 2 : 1;
        if (floor.corrects()) {
            out.append("vldrb.8 q2, [r5], #16\n").append(eight ? "vldrb.8 q3, [r5], #16\n" : "");
        } else {
            out.append("add r5, r5, #").append(4 * block).append('\n');
        }
        for (int q = 0; q < results; q++) {
            out.append(floor.scale(q));
        }
        both(out, eight, "vmulh.s32 q%1$d, q%1$d, q%2$d\n", 4);
        both(out, eight, "vadd.i32 q%1$d, q%1$d, q%2$d\n", 4);
        for (int q = 0; q < results; q++) {
            out.append(floor.correct(q, eight ? 2 + q : 2, 4)).append(floor.shift(q));
        }
        out.append("ldr r0, [r9, #16]\n");
    }

    /** An instruction between results and the next constants of their channels, loaded to one or two vectors. */
    private void both(StringBuilder out, boolean eight, String instruction, int q) {
        out.append(String.format(Locale.ROOT, "vldrb.8 q%d, [r5], #16\n", q));
        out.append(String.format(Locale.ROOT, instruction, 0, q));
        if (eight) {
            out.append(String.format(Locale.ROOT, "vldrb.8 q%d, [r5], #16\n", q + 1));
        }
        if (two()) {
            out.append(String.format(Locale.ROOT, instruction, 1, eight ? q + 1 : q));
        }
    }

    /** Stores results behind the loads of where to. */
    private void store(StringBuilder out, String places) {
        out.append(places);
        String advance = ", #" + block;
        if (!rest) {
            out.append("vstrb.32 q0, [r1]").append(advance).append('\n');
            out.append(two() ? "vstrb.32 q1, [r3]" + advance + "\n" : "");
        } else if (block == 8) {
            out.append("vctp.32 r2\nvpst\nvstrbt.32 q0, [r1], #8\n");
            out.append("subs r2, r2, #4\nusat r0, #3, r2\nvctp.32 r0\nvpst\nvstrbt.32 q1, [r3], #8\nsubs r2, r2, #4\n");
        } else {
            out.append("vctp.32 r2\n").append(two() ? "vpstt\n" : "vpst\n").append("vstrbt.32 q0, [r1], #4\n");
            out.append(two() ? "vstrbt.32 q1, [r3], #4\n" : "").append("subs r2, r2, #4\n");
        }
        out.append(two() ? "strd r1, r3, [r9, #8]\n" : "str r1, [r9, #8]\n");
        out.append(rest ? "str r2, [r9, #20]\nbgt 1b\n" : "cmp r5, r2\nbne 1b\n");
    }
}
