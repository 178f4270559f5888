// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * How kernels for MVE turn sums into results: as TensorFlow Lite does, or by the arithmetic that equals ONNX Runtime's.
 *
 * @param negatives whether halves below zero must be rounded away from zero
 * @param limits whether the limits are narrower than int8, or results may exceed 16 bits
 * @param any whether sums may be shifted to the left, so that nothing can be left out of TensorFlow Lite's steps
 * @param floor ONNX Runtime's; empty for TensorFlow Lite's
 */
record MveEnd(boolean negatives, boolean limits, boolean any, Optional<MveFloor> floor) {
    private static final Intrinsic FLOOR_TWIN = Intrinsic.inFile("mve/kiln_mve_corrected", List.of(), DType.INT8);

    private static final Intrinsic ANY_TWIN = Intrinsic.inFile("mve/kiln_mve_result_any", List.of(), DType.INT8);

    static MveEnd of(MveRescale rescale) {
        return new MveEnd(
                rescale.hasNegatives(),
                rescale.hasLimits(),
                rescale.isAny(),
                rescale.proven().map(MveFloor::of));
    }

    /** Part of a kernel's name. */
    String suffix() {
        return (negatives ? "_n" : "")
                + (any ? "_any" : limits ? "_l" : "")
                + floor.map(MveFloor::suffix).orElse("");
    }

    /** The scalar equivalent of the vector instructions for one accumulator. */
    Intrinsic twin() {
        return any ? ANY_TWIN : floor.isPresent() ? FLOOR_TWIN : MveText.TWIN;
    }

    /** The intrinsics that the kernels' twins call. */
    List<Intrinsic> twins() {
        return List.of(twin());
    }

    /** Sets the parameters of a kernel's text that depend on it. */
    KernelText in(KernelText text) {
        return text.with("RESULT", twin().name())
                .with("HIGH_AND_MORE", "high" + floor.map(MveFloor::arguments).orElse(""))
                .with("BIASES", floor.isPresent() ? "corrections" : "biases")
                .with("SHIFTS", floor.isPresent() ? "offsets" : "shifts");
    }

    /**
     * TensorFlow Lite's steps for a vector of sums with their biases, whatever the shifts: to the left before the multiply, to the
     * right after it, where halves are rounded away from zero.
     *
     * @param q the sums, then the results
     * @param shift the channels' shifts
     * @param scratch a free vector
     * @param multipliers an instruction that loads them to the free vector
     */
    static String anyShift(int q, int shift, int scratch, String multipliers) {
        return String.format(Locale.ROOT, """
            vmov.i32 q%3$d, #0
            vmax.s32 q%3$d, q%2$d, q%3$d
            vshl.s32 q%1$d, q%1$d, q%3$d
            %4$s
            vqrdmulh.s32 q%1$d, q%1$d, q%3$d
            vmov.i32 q%3$d, #0
            vmin.s32 q%2$d, q%2$d, q%3$d
            vand q%3$d, q%1$d, q%2$d
            vshr.s32 q%3$d, q%3$d, #31
            vqadd.s32 q%1$d, q%1$d, q%3$d
            vrshl.s32 q%1$d, q%1$d, q%2$d
            """, q, shift, scratch, multipliers);
    }
}
