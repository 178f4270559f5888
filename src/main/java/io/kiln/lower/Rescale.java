// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.imm;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Calls of the shortest intrinsic that rescales a value by a known multiplier. */
final class Rescale {
    /** The multiplier of 1. */
    private static final QuantizedMultiplier ONE = QuantizedMultiplier.of(1);

    private static final long MOST_DOUBLED = 1L << 30;

    private Rescale() {}

    /**
     * {@link io.kiln.base.FixedPoint#multiplyByQuantizedMultiplier} of a value.
     *
     * @param bound largest magnitude of the value
     */
    static Expr of(Expr value, QuantizedMultiplier by, long bound) {
        if (by.equals(ONE) && bound < MOST_DOUBLED) {
            return value;
        }
        if (by.shift() == 0) {
            return new Expr.Call(Intrinsics.HIGH_MUL, List.of(value, imm(by.multiplier())));
        }
        boolean fast = Epilogue.isFast(by, bound);
        Intrinsic intrinsic = fast ? Intrinsics.RESCALE : Intrinsics.RESCALE_ANY;
        return new Expr.Call(intrinsic, List.of(value, imm(by.multiplier()), imm(fast ? -by.shift() : by.shift())));
    }
}
