// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/**
 * The micro-kernel of {@link MveGemm} for at most 16 products: a block of four channels stays in registers for all
 * pixels. Arguments and table are those of {@link MveGemmKernel}.
 *
 * <pre>
 *   q0-q3   weights of four channels       q4, q5, q6   their three words of constants
 *   q7      inputs of a pixel, then the four results
 *   r0 r2 r4 r6 accumulators; r1 inputs; r3 output; r5 packed; r8, r10 steps of both; r9 state in memory; lr count of pixels
 * </pre>
 *
 * @param depth products of one dot product
 * @param end how sums become results, without a free vector
 */
record MveShortKernel(int depth, MveEnd end) {
    private static final KernelText TEXT = KernelText.of("mve/gemm_kept");

    private static final String BLOCK = """
            ldrd r5, r8, [r9, #16]
            ldrd r10, r11, [r9, #24]
            ldr r12, [r9, #32]
            2:
            ldrd r1, r3, [r9]
            ldr lr, [r9, #8]
            adds r0, r3, #4
            str r0, [r9, #4]
            vldrb.8 q0, [r5], #16
            vldrb.8 q1, [r5], #16
            vldrb.8 q2, [r5], #16
            vldrb.8 q3, [r5], #16
            vldrb.8 q4, [r5], #16
            vldrb.8 q5, [r5], #16
            vldrb.8 q6, [r5], #16
            dls lr, lr
            """;

    private static final String PIXEL = """
            add r1, r1, r8
            vmladav.s8 r0, q0, q7
            vmladav.s8 r2, q1, q7
            vmladav.s8 r4, q2, q7
            vmladav.s8 r6, q3, q7
            vmov q7[2], q7[0], r0, r4
            vmov q7[3], q7[1], r2, r6
            """;

    private static final String NEXT = """
            vstrb.32 q7, [r3]
            add r3, r3, r10
            le lr, 1b
            ldr r0, [r9, #12]
            subs r0, r0, #4
            str r0, [r9, #12]
            bne 2b
            """;

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(6, DType.INT32),
                List.of(),
                definition(),
                List.of(end.twin(), MveText.WORD));
    }

    String name() {
        return "kiln_mve_gemm_" + depth + "_1x4_kept" + end.suffix();
    }

    private String definition() {
        return end.in(TEXT)
                .with("DEPTH", depth)
                .with("NAME", name())
                .with("INSTRUCTIONS", MveText.lines(instructions()))
                .text();
    }

    private String instructions() {
        String predicate = "mov r0, #" + depth + "\nvctp.8 r0\n";
        String load = depth == MveGemmKernel.VECTOR ? "vldrb.8 q7, [r1]\n" : "vpst\nvldrbt.8 q7, [r1]\n";
        boolean isPart = depth < MveGemmKernel.VECTOR;
        boolean isPredicated =
                end.negatives() || end.floor().filter(MveFloor::corrects).isPresent();
        StringBuilder out = new StringBuilder(BLOCK);
        out.append(isPart && !isPredicated ? predicate : "").append("1:\n");
        // Corrections are predicated too, so that the predicate of the load does not last.
        out.append(isPart && isPredicated ? predicate : "").append(load).append(PIXEL);
        out.append(end.floor().map(this::roundDown).orElseGet(this::roundTwice));
        return out.append(NEXT).toString();
    }

    private String roundTwice() {
        String negatives = end.negatives() ? "mov r0, #-1\nvpt.s32 lt, q7, zr\nvaddt.i32 q7, q7, r0\n" : "";
        return "vadd.i32 q7, q7, q4\nvqrdmulh.s32 q7, q7, q5\n" + negatives + MveText.finish(end.limits(), 7, 6, 36);
    }

    private String roundDown(MveFloor floor) {
        return floor.scale(7) + "vmulh.s32 q7, q7, q5\nvadd.i32 q7, q7, q6\n" + floor.correct(7, 4, 7)
                + floor.shift(7)
                + MveText.limit(end.limits(), 7, 36);
    }
}
