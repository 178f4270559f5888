// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;

/**
 * Rescaling of int16 layers' sums, by the upper halves of the multipliers and rounded once.
 *
 * @param isNarrow whether 32 bits hold every sum and every step, for {@link Intrinsics#RESCALE_NARROW}; otherwise {@link Intrinsics#RESCALE_WIDE}
 * @param multipliers of 15 bits
 * @param shifts to the right, of which {@code RESCALE_NARROW} takes 16 for granted
 */
public record WideRescale(boolean isNarrow, List<Integer> multipliers, List<Integer> shifts) {
    public WideRescale {
        multipliers = List.copyOf(multipliers);
        shifts = List.copyOf(shifts);
    }

    /** What {@code RESCALE_NARROW} shifts by at first. */
    private static final int FIRST = 16;

    private static final int MOST = 30;

    /**
     * The constants of a rescaling.
     *
     * @param bound largest magnitude of a sum; more than 32 bits if none is known
     */
    static WideRescale of(Requantization by, long bound) {
        return of(by.multipliers(), by.shifts(), by.inputZeroPoint() == 0 ? bound : Long.MAX_VALUE);
    }

    private static WideRescale of(List<Integer> multipliers, List<Integer> lefts, long bound) {
        List<Integer> shifts = lefts.stream().map(s -> 15 - s).toList();
        boolean isNarrow = bound <= Integer.MAX_VALUE
                && multipliers.stream().allMatch(m -> m >= 0)
                && shifts.stream().allMatch(s -> s > FIRST && s <= FIRST + MOST);
        return new WideRescale(
                isNarrow,
                multipliers.stream().map(FixedPoint::reducedMultiplier).toList(),
                isNarrow ? shifts.stream().map(s -> s - FIRST).toList() : shifts);
    }

    /** Emits the rescaling of a sum, whose largest magnitude is known, by one multiplier. */
    public static Expr emit(Expr sum, QuantizedMultiplier by, long bound) {
        WideRescale wide = of(List.of(by.multiplier()), List.of(by.shift()), bound);
        return new Expr.Call(
                wide.isNarrow ? Intrinsics.RESCALE_NARROW : Intrinsics.RESCALE_WIDE,
                List.of(
                        Exprs.cast(wide.isNarrow ? DType.INT32 : DType.INT64, sum),
                        Exprs.imm(wide.multipliers.get(0)),
                        Exprs.imm(wide.shifts.get(0))));
    }
}
