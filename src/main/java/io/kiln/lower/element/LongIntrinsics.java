// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT64;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for functions of int64. */
final class LongIntrinsics {
    /** The difference, which wraps around. */
    static final Intrinsic SUBTRACT = Intrinsic.inFile("portable/kiln_subtract_64", List.of(INT64, INT64), INT64);

    /** The product, which wraps around. */
    static final Intrinsic MULTIPLY = Intrinsic.inFile("portable/kiln_multiply_64", List.of(INT64, INT64), INT64);

    /** The quotient towards zero, defined for all operands. */
    static final Intrinsic DIVIDE = Intrinsic.inFile("portable/kiln_divide_64", List.of(INT64, INT64), INT64);

    /** {@link io.kiln.ir.op.element.Binary.Kind#LEFT_SHIFT}. */
    static final Intrinsic LEFT_SHIFT = Intrinsic.inFile("portable/kiln_left_shift_64", List.of(INT64, INT64), INT64);

    /** {@link io.kiln.ir.op.element.Binary.Kind#RIGHT_SHIFT}. */
    static final Intrinsic RIGHT_SHIFT = Intrinsic.inFile("portable/kiln_right_shift_64", List.of(INT64, INT64), INT64);

    /** A float truncated towards zero; it saturates, and NaN becomes 0. */
    static final Intrinsic OF_FLOAT = Intrinsic.inFile("portable/kiln_float_to_int_64", List.of(FLOAT32), INT64);

    /** A float truncated towards zero as an unsigned integer; it saturates, and NaN becomes 0. */
    static final Intrinsic UNSIGNED_OF_FLOAT =
            Intrinsic.inFile("portable/kiln_float_to_uint_64", List.of(FLOAT32), UINT64);

    private LongIntrinsics() {}
}
