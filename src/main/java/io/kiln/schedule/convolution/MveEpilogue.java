// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.DType;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Optional;

/**
 * How kernels for MVE turn sums into results: as TensorFlow Lite does, or by the arithmetic that equals ONNX Runtime's.
 *
 * @param negatives whether halves below zero must be rounded away from zero
 * @param limits whether the limits are narrower than int8, or results may exceed 16 bits
 * @param any whether sums may be shifted to the left, so that nothing can be left out of TensorFlow Lite's steps
 * @param floor ONNX Runtime's; empty for TensorFlow Lite's
 */
public record MveEpilogue(boolean negatives, boolean limits, boolean any, Optional<MveFloor> floor) {
    private static final Intrinsic TWIN = Intrinsic.inFile("requantize/kiln_mve_result", List.of(), DType.INT8);
    private static final Intrinsic FLOOR_TWIN =
            Intrinsic.inFile("requantize/kiln_mve_corrected", List.of(), DType.INT8);

    private static final Intrinsic ANY_TWIN = Intrinsic.inFile("requantize/kiln_mve_result_any", List.of(), DType.INT8);

    public static MveEpilogue of(MveRequantize rescale) {
        return new MveEpilogue(
                rescale.hasNegatives(),
                rescale.hasLimits(),
                rescale.isAny(),
                rescale.proven().map(MveFloor::of));
    }

    /** Part of a kernel's name. */
    public String suffix() {
        return (negatives ? "_n" : "")
                + (any ? "_any" : limits ? "_l" : "")
                + floor.map(MveFloor::suffix).orElse("");
    }

    /** The scalar equivalent of the vector instructions for one accumulator. */
    public Intrinsic twin() {
        return any ? ANY_TWIN : floor.isPresent() ? FLOOR_TWIN : TWIN;
    }

    /** The intrinsics that the kernels' twins call. */
    public List<Intrinsic> twins() {
        return List.of(twin());
    }

    /** What the twin has as arguments behind the upper limit. */
    public String arguments() {
        return floor.map(MveFloor::arguments).orElse("");
    }

    /** The first of a channel's constants, for comments. */
    public String biases() {
        return floor.isPresent() ? "corrections" : "biases";
    }

    /** The last of a channel's constants, for comments. */
    public String shifts() {
        return floor.isPresent() ? "offsets" : "shifts";
    }
}
