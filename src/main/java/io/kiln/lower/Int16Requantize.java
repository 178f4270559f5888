// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Layer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Requantization of int16 layers' accumulators by the upper halves of the multipliers, rounded once, as
 * {@link FixedPoint#multiplyByQuantizedMultiplier(long, int, int)} has it.
 *
 * @param intrinsic {@link Intrinsics#RESCALE_HIGH} or {@link Intrinsics#RESCALE_NARROW} where 32 bits hold every sum and every step, otherwise
 *     {@link Intrinsics#RESCALE_WIDE}
 * @param multipliers of each channel: 15 bits, or shifted to 32 for {@code RESCALE_HIGH}
 * @param shifts to the right of each channel, less 16 for {@code RESCALE_NARROW}; none for {@code RESCALE_HIGH}
 */
public record Int16Requantize(Intrinsic intrinsic, List<Integer> multipliers, List<Integer> shifts) {
    public Int16Requantize {
        multipliers = List.copyOf(multipliers);
        shifts = List.copyOf(shifts);
    }

    private static final int MULTIPLIER_BITS = 15;

    /** Bits that {@code RESCALE_HIGH} shifts by. */
    private static final int WORD = 32;

    /** Bits that {@code RESCALE_NARROW} shifts by before its own shift. */
    private static final int FIRST = 16;

    private static final int MOST = 30;

    /**
     * The constants of a requantization.
     *
     * @param bound largest magnitude of a layer's sum; that of other operators is not known
     */
    static Int16Requantize of(FusedOperator op, Requantization by, long bound) {
        boolean isBounded = op.root().op() instanceof Layer && by.inputZeroPoint() == 0;
        return of(by.multipliers(), by.shifts(), isBounded ? bound : Long.MAX_VALUE);
    }

    /**
     * The multipliers of each channel of a layer of int16 data whose accumulators are requantized by
     * {@link Intrinsics#RESCALE_HIGH} alone; empty for other layers.
     *
     * @param bound largest magnitude of a sum
     */
    public static Optional<List<Integer>> high(FusedOperator op, int channels, long bound) {
        if (op.type().dtype() != DType.INT16 || op.sumType() != DType.INT64) {
            return Optional.empty();
        }
        return op.requantization()
                .filter(by -> by.real().isEmpty() && by.inputZeroPoint() == 0 && by.outputZeroPoint() == 0)
                .map(by -> of(op, by, bound))
                .filter(rescale -> rescale.intrinsic.equals(Intrinsics.RESCALE_HIGH))
                .map(Int16Requantize::multipliers)
                .map(by -> by.size() == 1 ? Collections.nCopies(channels, by.get(0)) : by);
    }

    private static Int16Requantize of(List<Integer> full, List<Integer> lefts, long bound) {
        List<Integer> multipliers =
                full.stream().map(FixedPoint::reducedMultiplier).toList();
        List<Integer> shifts = lefts.stream().map(s -> MULTIPLIER_BITS - s).toList();
        boolean isBounded = bound <= Integer.MAX_VALUE;
        if (isBounded && shifts.stream().allMatch(s -> s > MULTIPLIER_BITS && s <= WORD)) {
            return new Int16Requantize(
                    Intrinsics.RESCALE_HIGH,
                    IntStream.range(0, shifts.size())
                            .mapToObj(i -> multipliers.get(i) << (WORD - shifts.get(i)))
                            .toList(),
                    List.of());
        }
        boolean isNarrow = isBounded
                && multipliers.stream().allMatch(m -> m >= 0)
                && shifts.stream().allMatch(s -> s > FIRST && s <= FIRST + MOST);
        return isNarrow
                ? new Int16Requantize(
                        Intrinsics.RESCALE_NARROW,
                        multipliers,
                        shifts.stream().map(s -> s - FIRST).toList())
                : new Int16Requantize(Intrinsics.RESCALE_WIDE, multipliers, shifts);
    }

    /** Emits the requantization of an accumulator, whose largest magnitude is known, by one multiplier. */
    public static Expr emit(Expr sum, QuantizedMultiplier by, long bound) {
        Int16Requantize wide = of(List.of(by.multiplier()), List.of(by.shift()), bound);
        List<Expr> arguments =
                new ArrayList<>(List.of(Exprs.cast(wide.intrinsic.parameters().get(0), sum)));
        Stream.concat(wide.multipliers.stream(), wide.shifts.stream())
                .map(Exprs::imm)
                .forEach(arguments::add);
        return new Expr.Call(wide.intrinsic, arguments);
    }
}
