// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Optional;

/**
 * How kernels for MVE turn sums into results: as TensorFlow Lite does, or by the arithmetic that equals ONNX Runtime's.
 *
 * @param negatives whether halves below zero must be rounded away from zero
 * @param limits whether the limits are narrower than int8, or results may exceed 16 bits
 * @param floor ONNX Runtime's; empty for TensorFlow Lite's
 */
record MveEnd(boolean negatives, boolean limits, Optional<MveFloor> floor) {
    private static final Intrinsic FLOOR_TWIN = Intrinsic.inFile("mve/kiln_mve_corrected", List.of(), DType.INT8);

    static MveEnd of(MveRescale rescale) {
        return new MveEnd(
                rescale.hasNegatives(), rescale.hasLimits(), rescale.proven().map(MveFloor::of));
    }

    /** Part of a kernel's name. */
    String suffix() {
        return (negatives ? "_n" : "")
                + (limits ? "_l" : "")
                + floor.map(MveFloor::suffix).orElse("");
    }

    /** The scalar equivalent of the vector instructions for one accumulator. */
    Intrinsic twin() {
        return floor.isPresent() ? FLOOR_TWIN : MveText.TWIN;
    }

    /** Sets what kernels' texts say of it. */
    KernelText in(KernelText text) {
        return text.with("RESULT", twin().name())
                .with("HIGH_AND_MORE", "high" + floor.map(MveFloor::arguments).orElse(""))
                .with("BIASES", floor.isPresent() ? "corrections" : "biases")
                .with("SHIFTS", floor.isPresent() ? "offsets" : "shifts");
    }
}
