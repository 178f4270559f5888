// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.base.DType.INT32;

import io.kiln.lower.Intrinsics;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for normalizations in fixed point. */
public final class NormalizeIntrinsics {
    /** {@link io.kiln.ir.arith.TflNormalization#logarithm}. */
    public static final Intrinsic LOGARITHM = Intrinsic.inFile(
            "portable/kiln_logarithm",
            List.of(INT32),
            INT32,
            Intrinsics.HIGH_MUL,
            Intrinsics.LEADING_ZEROS,
            Intrinsics.RECIPROCAL);

    /** {@link io.kiln.ir.arith.InverseSquareRoot#exponent}. */
    public static final Intrinsic ROOT_EXPONENT =
            Intrinsic.inFile("portable/kiln_root_exponent", List.of(INT32), INT32, Intrinsics.LEADING_ZEROS);

    /** {@link io.kiln.ir.arith.InverseSquareRoot#root}, given the exponent too. */
    public static final Intrinsic INVERSE_ROOT =
            Intrinsic.inFile("portable/kiln_inverse_root", List.of(INT32, INT32), INT32, Intrinsics.HIGH_MUL);

    private NormalizeIntrinsics() {}
}
