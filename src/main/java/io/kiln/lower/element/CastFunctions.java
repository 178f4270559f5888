// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;

import io.kiln.base.DType;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Conversions of one element. */
final class CastFunctions {
    private CastFunctions() {}

    /** A store keeps the low bits of integers; float32 is first converted to an integer of 32 bits, saturated. */
    static ElementFunction of(DType from, DType to) {
        if (to.isFloat()) {
            return fitting((block, x) -> Exprs.cast(DType.FLOAT32, x.get(0)));
        }
        if (!from.isFloat()) {
            boolean isKept = from.isLong() == to.isLong() && (from == to || !from.isLong());
            return fitting((block, x) -> isKept ? x.get(0) : Exprs.cast(to, x.get(0)));
        }
        if (to == DType.INT64) {
            return fitting((block, x) -> new Expr.Call(LongIntrinsics.OF_FLOAT, List.of(x.get(0))));
        }
        if (to == DType.UINT64) {
            return fitting((block, x) -> new Expr.Call(LongIntrinsics.UNSIGNED_OF_FLOAT, List.of(x.get(0))));
        }
        Intrinsic truncated = to == DType.UINT32 ? ElementIntrinsics.FLOAT_TO_UINT : ElementIntrinsics.FLOAT_TO_INT;
        return fitting((block, x) -> new Expr.Call(truncated, List.of(x.get(0))));
    }
}
