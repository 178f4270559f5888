// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

/**
 * The end of a block of two pixels times four channels, as TensorFlow Lite rounds: what {@link MveGemmKernel} does for one vector of sums after the
 * other, in an order in which neither waits for itself, with loads between the operations on vectors.
 *
 * <pre>
 *   q0, q1   sums, then results                  q2, q3   constants        q4, q5   the signs of products
 *   r1, r3   where the results belong            r2       end of the weights, or channels left        r0   zero point
 * </pre>
 *
 * @param end whether products may be negative, and whether there are limits, in q6 and q7
 */
record MvePipelinedEnd(MveEnd end) {
    private static final String SCALE = """
            vmov q0[2], q0[0], r0, r4
            ldrd r1, r3, [r9, #8]
            vmov q0[3], q0[1], r2, r6
            vldrb.8 q2, [r5], #16
            vmov q1[2], q1[0], r8, r12
            ldr r2, [r9, #20]
            vmov q1[3], q1[1], r10, r14
            vldrb.8 q3, [r5], #16
            vadd.i32 q0, q0, q2
            ldr r0, [r9, #16]
            vadd.i32 q1, q1, q2
            vqrdmulh.s32 q0, q0, q3
            vldrb.8 q2, [r5], #16
            vqrdmulh.s32 q1, q1, q3
            """;

    private static final String SIGNS = """
            vshr.s32 q4, q0, #31
            vshr.s32 q5, q1, #31
            vadd.i32 q0, q0, q4
            vadd.i32 q1, q1, q5
            """;

    private static final String SHIFT = """
            vrshl.s32 q0, q0, q2
            vrshl.s32 q1, q1, q2
            vadd.i32 q0, q0, r0
            vadd.i32 q1, q1, r0
            """;

    private static final String LIMITS = """
            vmax.s32 q0, q0, q6
            vmax.s32 q1, q1, q6
            vmin.s32 q0, q0, q7
            vmin.s32 q1, q1, q7
            """;

    private static final String SATURATION = """
            vqmovnb.s16 q0, q0
            vqmovnb.s16 q1, q1
            """;

    /** Appends the instructions. */
    void emit(StringBuilder out) {
        out.append(SCALE).append(end.negatives() ? SIGNS : "").append(SHIFT).append(end.limits() ? LIMITS : SATURATION);
    }
}
