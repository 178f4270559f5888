// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;

import io.kiln.tir.Intrinsic;
import java.util.List;

/** Helpers of generated C for the channels of filter banks. */
final class FilterBankIntrinsics {
    private static final Intrinsic SQUARE_ROOT_32 =
            Intrinsic.inFile("portable/signal/kiln_square_root_32", List.of(UINT32), UINT32);

    /** {@link io.kiln.ir.arith.SquareRoot}. */
    static final Intrinsic SQUARE_ROOT =
            Intrinsic.inFile("portable/signal/kiln_square_root", List.of(UINT64), UINT32, SQUARE_ROOT_32);

    /** A right shift that is 0 where C leaves it undefined. */
    static final Intrinsic SHIFT_RIGHT =
            Intrinsic.inFile("portable/signal/kiln_shift_right", List.of(UINT32, INT32), UINT32);

    private FilterBankIntrinsics() {}
}
