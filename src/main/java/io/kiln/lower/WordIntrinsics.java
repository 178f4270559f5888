// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.INT32;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for functions of int32 that TVM's models spell out. */
final class WordIntrinsics {
    /** {@link io.kiln.ir.op.Binary.Kind#LEFT_SHIFT}. */
    static final Intrinsic LEFT_SHIFT = Intrinsic.inFile("portable/kiln_left_shift", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.Binary.Kind#RIGHT_SHIFT}. */
    static final Intrinsic RIGHT_SHIFT = Intrinsic.inFile("portable/kiln_right_shift", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.FixedPointMultiply}, halves upward. */
    static final Intrinsic FIXED_POINT_UPWARD =
            Intrinsic.inFile("portable/kiln_fixed_point_upward", List.of(INT32, INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.FixedPointMultiply}, halves away from zero. */
    static final Intrinsic FIXED_POINT_TO_NEAREST =
            Intrinsic.inFile("portable/kiln_fixed_point_to_nearest", List.of(INT32, INT32, INT32), INT32);

    private WordIntrinsics() {}
}
