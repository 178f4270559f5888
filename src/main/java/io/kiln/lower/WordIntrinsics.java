// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.base.DType.INT32;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for int32 functions that TVM's models contain in expanded form. */
public final class WordIntrinsics {
    /** {@link io.kiln.ir.op.element.Binary.Kind#LEFT_SHIFT}. */
    public static final Intrinsic LEFT_SHIFT =
            Intrinsic.inFile("portable/kiln_left_shift", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.Binary.Kind#RIGHT_SHIFT}. */
    public static final Intrinsic RIGHT_SHIFT =
            Intrinsic.inFile("portable/kiln_right_shift", List.of(INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.FixedPointMultiply}, halves upward. */
    public static final Intrinsic FIXED_POINT_UPWARD =
            Intrinsic.inFile("portable/kiln_fixed_point_upward", List.of(INT32, INT32, INT32), INT32);

    /** {@link io.kiln.ir.op.element.FixedPointMultiply}, halves away from zero. */
    public static final Intrinsic FIXED_POINT_TO_NEAREST =
            Intrinsic.inFile("portable/kiln_fixed_point_to_nearest", List.of(INT32, INT32, INT32), INT32);

    private WordIntrinsics() {}
}
