// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.imm;

import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Calls of the shortest intrinsics that requantize a value by a known multiplier and add a zero point. */
public final class RequantizeCalls {
    /** The multiplier of 1. */
    private static final QuantizedMultiplier ONE = QuantizedMultiplier.of(1);

    private static final long MOST_DOUBLED = 1L << 30;

    private RequantizeCalls() {}

    /**
     * {@link io.kiln.base.FixedPoint#multiplyByQuantizedMultiplier} of a value.
     *
     * @param bound the value is from {@code -bound - 1} to this
     */
    public static Expr of(Expr value, QuantizedMultiplier by, long bound) {
        if (by.equals(ONE) && bound < MOST_DOUBLED) {
            return value;
        }
        if (by.shift() == 0) {
            return new Expr.Call(Intrinsics.HIGH_MUL, List.of(value, imm(by.multiplier())));
        }
        boolean fast = Epilogue.isFast(by, bound);
        Intrinsic intrinsic = fast ? fast(List.of(by.multiplier()), bound) : Intrinsics.RESCALE_ANY;
        return new Expr.Call(intrinsic, List.of(value, imm(by.multiplier()), imm(fast ? -by.shift() : by.shift())));
    }

    /**
     * The shortest requantization by a shift to the right of at least 1, where no step can overflow.
     *
     * @param bound largest magnitude of the value
     */
    static Intrinsic fast(List<Integer> multipliers, long bound) {
        boolean isSmall = bound < MOST_DOUBLED && multipliers.stream().allMatch(m -> m >= 0);
        return isSmall ? Intrinsics.RESCALE_SMALL : Intrinsics.RESCALE;
    }

    /**
     * A value plus a zero point; the sum saturates in 32 bits if it could leave them.
     *
     * @param bound largest magnitude of the value
     */
    public static Expr plus(Expr value, int zeroPoint, long bound) {
        return zeroPoint == 0 || bound + Math.abs((long) zeroPoint) <= Integer.MAX_VALUE
                ? Exprs.add(value, imm(zeroPoint))
                : new Expr.Call(Intrinsics.ADD_SATURATED, List.of(value, imm(zeroPoint)));
    }

    /**
     * A requantized value plus an int16; the sum saturates in 32 bits if it could leave them.
     *
     * @param bound largest magnitude of the value before it was rescaled
     */
    public static Expr plusShort(Expr value, Expr addend, QuantizedMultiplier by, long bound) {
        return largest(by, bound) - Short.MIN_VALUE <= Integer.MAX_VALUE
                ? Exprs.add(value, addend)
                : new Expr.Call(Intrinsics.ADD_SATURATED, List.of(value, addend));
    }

    /** Requantizes a value as {@link #of(Expr, QuantizedMultiplier, long)} does, and adds a zero point with saturation. */
    public static Expr of(Expr value, QuantizedMultiplier by, long bound, int zeroPoint) {
        return plus(of(value, by, bound), zeroPoint, largest(by, bound));
    }

    /**
     * Largest magnitude of a requantized value; the 32-bit limit if the left shift wraps.
     *
     * @param bound largest magnitude of the value
     */
    public static long largest(QuantizedMultiplier by, long bound) {
        long most = 1L << 31;
        long within = Math.min(bound, most);
        long shifted = by.shift() > 0 ? Math.min(within << by.shift(), most) : within;
        long product = ((shifted * Math.abs((long) by.multiplier())) >> 31) + 1;
        return by.shift() < 0 ? (product >> -by.shift()) + 1 : Math.min(product, most);
    }
}
