// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.shr;

import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import java.util.List;
import java.util.Optional;

/**
 * A function of two slopes of an int16 without a branch: {@code (floor(x * m / 2^16) + offset) >> shift}, where m and the offset depend
 * on the sign of x. There are 65,536 values, and equality with the reference is checked for each of them.
 *
 * @param positive constants if x is 0 or more
 * @param negative constants if x is below 0
 * @param shift bits to the right, from 1 to 14
 */
public record ProvenSlopes(Slope positive, Slope negative, int shift) {
    private static final int MOST_SHIFT = 14;
    private static final int HALF = 16;
    /** Multipliers are tried this far from their exact values. */
    private static final int REACH = 4;

    /** The constants of a sign. */
    public record Slope(int multiplier, int offset) {
        int apply(int x, int shift) {
            return (int) ((((long) x * multiplier) >> HALF) + offset) >> shift;
        }
    }

    /** A multiplier with the offsets that give the reference's results. */
    private record Side(int multiplier, long least, long most) {
        Slope at(long offset) {
            return new Slope(multiplier, (int) offset);
        }
    }

    /** Constants for a function, or nothing where none give the reference's results. */
    public static Optional<ProvenSlopes> of(TflLeakyRelu op) {
        if (op.inputZeroPoint() != 0 || op.outputZeroPoint() != 0) {
            return Optional.empty();
        }
        double steepest = Math.max(Math.abs(slope(op.positive())), Math.abs(slope(op.negative())));
        int room = Math.min(MOST_SHIFT, 13 - Math.getExponent(steepest));
        for (int shift = room; shift >= 1; shift--) {
            Optional<Side> positive = side(op.positive(), shift, 1);
            Optional<Side> negative = side(op.negative(), shift, -1);
            if (positive.isPresent() && negative.isPresent()) {
                return Optional.of(joined(positive.get(), negative.get(), shift));
            }
        }
        return Optional.empty();
    }

    /** Combines the constants of both signs, with one offset if one suits both. */
    private static ProvenSlopes joined(Side positive, Side negative, int shift) {
        long least = Math.max(positive.least, negative.least);
        boolean isCommon = least <= Math.min(positive.most, negative.most);
        return new ProvenSlopes(
                positive.at(isCommon ? least : positive.least), negative.at(isCommon ? least : negative.least), shift);
    }

    private static double slope(QuantizedMultiplier by) {
        return Math.scalb((double) by.multiplier(), by.shift() - 31);
    }

    private static Optional<Side> side(QuantizedMultiplier by, int shift, int sign) {
        long exact = Math.round(Math.scalb(slope(by), HALF + shift));
        for (int i = 0; i <= 2 * REACH; i++) {
            Side side = side(by, (int) exact + (i % 2 == 1 ? i / 2 + 1 : -(i / 2)), shift, sign);
            if (side.least <= side.most) {
                return Optional.of(side);
            }
        }
        return Optional.empty();
    }

    /** The offsets that put every value of a sign into its step; large values come first, because they refuse most multipliers. */
    private static Side side(QuantizedMultiplier by, int multiplier, int shift, int sign) {
        long least = -(1L << (shift + 1));
        long most = 1L << (shift + 1);
        int last = sign > 0 ? 0 : -1;
        for (int x = sign > 0 ? Short.MAX_VALUE : Short.MIN_VALUE; x != last - sign && least <= most; x -= sign) {
            long result = FixedPoint.multiplyByQuantizedMultiplier(x, by.multiplier(), by.shift());
            long scaled = ((long) x * multiplier) >> HALF;
            if (result > Short.MIN_VALUE) {
                least = Math.max(least, (Math.min(result, Short.MAX_VALUE) << shift) - scaled);
            }
            if (result < Short.MAX_VALUE) {
                most = Math.min(most, ((Math.max(result, Short.MIN_VALUE) + 1) << shift) - 1 - scaled);
            }
        }
        return new Side(multiplier, least, most);
    }

    /** The function of an element before it saturates. */
    Expr emit(BlockBuilder block, List<Expr> values) {
        Expr x = block.let("x", values.get(0));
        Expr multiplier = bySign(x, positive.multiplier, negative.multiplier);
        Expr offset = bySign(x, positive.offset, negative.offset);
        return shr(new Expr.Call(ElementIntrinsics.ADD_SCALED, List.of(offset, multiplier, x)), imm(shift));
    }

    private static Expr bySign(Expr x, int positive, int negative) {
        return positive == negative
                ? imm(positive)
                : add(
                        imm(positive),
                        new Expr.Call(ElementIntrinsics.IF_NEGATIVE, List.of(x, imm(negative - positive))));
    }

    /** Whether the offset does not depend on the sign. */
    public boolean hasOneOffset() {
        return positive.offset == negative.offset;
    }

    /** Whether no result needs to saturate. */
    public boolean fits() {
        int first = apply(Short.MIN_VALUE);
        int last = apply(Short.MAX_VALUE);
        return Math.max(first, last) <= Short.MAX_VALUE && Math.min(first, last) >= Short.MIN_VALUE;
    }

    /** The function of an element before it saturates. */
    int apply(int x) {
        return (x >= 0 ? positive : negative).apply(x, shift);
    }
}
