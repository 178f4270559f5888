// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.arith.TflQuotient;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.List;
import java.util.stream.IntStream;

/** Functions of quantized elements; {@link QnnBinary} has the formulas. */
final class QuantizedFunctions {
    private static final int COMPARISON_SHIFT = 8;

    /** The multiplier of one half, and with a shift of any other power of two. */
    private static final int HALF = 1 << 30;

    /** Largest square of a difference, with what the sides' rounding adds. */
    private static final long SQUARE = (1L << 30) + (1L << 20);

    private final FusedOperator op;

    QuantizedFunctions(FusedOperator op) {
        this.op = op;
    }

    ElementFunction sum(QnnAdd add) {
        if (add.rounding() == Rounding.UPWARD) {
            return ElementFunction.saturating(this::roundedSum);
        }
        return ProvenAdd.of(op)
                .map(proven -> ElementFunction.saturating((block, x) -> proven.emit(x))
                        .named("(sum=proven)")
                        .arithmetic())
                .orElseGet(() -> ElementFunction.saturating(this::sum).arithmetic());
    }

    static ElementFunction addN(TflAddN op) {
        return ElementFunction.saturating((block, x) -> addN(op, block, x));
    }

    static ElementFunction leakyRelu(TflLeakyRelu op) {
        return ProvenSlopes.of(op)
                .map(slopes -> new ElementFunction(
                        (block, x) -> slopes.emit(block, x), slopes.fits(), "(slopes=proven)", true))
                .orElseGet(() -> bySign(op));
    }

    /** Leaky RELU with a branch on the sign, which is shorter on cores without a long multiply. */
    static ElementFunction bySign(TflLeakyRelu op) {
        return ElementFunction.saturating((block, operands) -> {
            Expr x = block.let("x", sub(operands.get(0), imm(op.inputZeroPoint())));
            long bound = 1L << 16;
            Expr y = select(
                    Exprs.ge(x, imm(0)),
                    RequantizeCalls.of(x, op.positive(), bound),
                    RequantizeCalls.of(x, op.negative(), bound));
            long most = Math.max(
                    RequantizeCalls.largest(op.positive(), bound), RequantizeCalls.largest(op.negative(), bound));
            return RequantizeCalls.plus(block.let("scaled", y), op.outputZeroPoint(), most);
        });
    }

    /** Quantized sum: rescales both operands to a common scale with more bits, adds them, and requantizes to the output's scale. */
    private Expr sum(BlockBuilder block, List<Expr> values) {
        DType dtype = op.rootTypes().get(0).dtype();
        TflAddParameters by = TflAddParameters.of(dtype, scale(2), scale(4), scale(6));
        Expr left = block.let("lhs", side(values.get(0), 3, by.lhs(), by.leftShift()));
        Expr right = block.let("rhs", side(values.get(1), 5, by.rhs(), by.leftShift()));
        Range sums = range(by.lhs(), 3, by.leftShift()).plus(range(by.rhs(), 5, by.leftShift()));
        return RequantizeCalls.of(add(left, right), by.output(), sums.bound(), zeroPoint(7));
    }

    /** Quantized sum: requantizes each operand to the output's scale, rounded, and adds them. */
    private Expr roundedSum(BlockBuilder block, List<Expr> values) {
        Expr left = block.let("lhs", rounded(centred(values.get(0), 3), scale(2)));
        Expr right = block.let("rhs", rounded(centred(values.get(1), 5), scale(4)));
        return add(add(left, right), imm(zeroPoint(7)));
    }

    private Expr rounded(Expr value, float inputScale) {
        QuantizedMultiplier by = QuantizedMultiplier.of(inputScale / (double) scale(6));
        return new Expr.Call(Intrinsics.RESCALE_UPWARD, List.of(value, imm(by.multiplier()), imm(31 - by.shift())));
    }

    private static Expr addN(TflAddN op, BlockBuilder block, List<Expr> values) {
        Expr sum = values.stream().reduce(Exprs::add).orElseThrow();
        Expr centred = sub(sum, imm((op.count() + 1L) * op.inputZeroPoint()));
        Expr scaled = block.let("sum", mul(centred, TflAddN.STEP));
        return RequantizeCalls.of(scaled, op.by(), Integer.MAX_VALUE, op.outputZeroPoint());
    }

    ElementFunction binary(QnnBinary binary, Tables tables) {
        return switch (binary.kind()) {
            case SUBTRACT ->
                ElementFunction.saturating((block, x) -> difference(binary, block, x))
                        .arithmetic();
            case SQUARED_DIFFERENCE -> ElementFunction.saturating(this::squaredDifference);
            case MULTIPLY ->
                ElementFunction.saturating((block, x) -> product(binary, x)).arithmetic();
            case PRELU -> ElementFunction.saturating((block, x) -> prelu(binary, block, x));
            case DIVIDE -> quotient(tables);
            case EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL ->
                ElementFunction.fitting((block, x) -> comparison(binary.kind(), x));
        };
    }

    private Expr difference(QnnBinary binary, BlockBuilder block, List<Expr> values) {
        DType dtype = op.rootTypes().get(0).dtype();
        TflAddParameters by = binary.ofDifference(dtype, scale(2), scale(4), scale(6));
        Range differences = range(by.lhs(), 3, by.leftShift())
                .plus(range(by.rhs(), 5, by.leftShift()).negative());
        return RequantizeCalls.of(between(block, values, by), by.output(), differences.bound(), zeroPoint(7));
    }

    private Expr squaredDifference(BlockBuilder block, List<Expr> values) {
        DType dtype = op.rootTypes().get(0).dtype();
        TflAddParameters by = TflAddParameters.ofSquaredDifference(dtype, scale(2), scale(4), scale(6));
        Expr difference = block.let("difference", between(block, values, by));
        Expr square = mul(difference, difference);
        return RequantizeCalls.of(square, by.output(), SQUARE, zeroPoint(7));
    }

    private Expr between(BlockBuilder block, List<Expr> values, TflAddParameters by) {
        Expr left = block.let("lhs", side(values.get(0), 3, by.lhs(), by.leftShift()));
        Expr right = block.let("rhs", side(values.get(1), 5, by.rhs(), by.leftShift()));
        return sub(left, right);
    }

    private Expr side(Expr value, int zeroPoint, QuantizedMultiplier by, int leftShift) {
        int exact = leftShift - 1 + by.shift();
        if (by.multiplier() == HALF && exact >= 0) {
            return mul(centred(value, zeroPoint), 1L << exact);
        }
        return RequantizeCalls.of(
                mul(centred(value, zeroPoint), 1L << leftShift),
                by,
                shifted(zeroPoint, leftShift).bound());
    }

    /** The values of a side before it is requantized. */
    private Range shifted(int zeroPoint, int leftShift) {
        DType dtype = op.rootTypes().get(0).dtype();
        long zero = zeroPoint(zeroPoint);
        return new Range((dtype.min() - zero) << leftShift, (dtype.max() - zero) << leftShift);
    }

    /** The values of a requantized side. */
    private Range range(QuantizedMultiplier by, int zeroPoint, int leftShift) {
        Range shifted = shifted(zeroPoint, leftShift);
        return new Range(rescaled(shifted.least(), by), rescaled(shifted.most(), by));
    }

    private static long rescaled(long value, QuantizedMultiplier by) {
        return FixedPoint.multiplyByQuantizedMultiplier((int) value, by.multiplier(), by.shift());
    }

    /** The values from the least to the largest. */
    private record Range(long least, long most) {
        Range plus(Range other) {
            return new Range(least + other.least, most + other.most);
        }

        Range negative() {
            return new Range(-most, -least);
        }

        /** The bound that {@link RequantizeCalls#of} takes for these values. */
        long bound() {
            return Math.max(most, -least - 1);
        }
    }

    private Expr product(QnnBinary binary, List<Expr> values) {
        QuantizedMultiplier by = binary.multiplier(scale(2), scale(4), scale(6));
        Expr product = mul(centred(values.get(0), 3), centred(values.get(1), 5));
        return RequantizeCalls.of(product, by, 1L << 30, zeroPoint(7));
    }

    private Expr prelu(QnnBinary binary, BlockBuilder block, List<Expr> values) {
        QuantizedMultiplier positive = binary.multiplier(scale(2), 1, scale(6));
        QuantizedMultiplier negative = binary.multiplier(scale(2), scale(4), scale(6));
        Expr x = block.let("x", centred(values.get(0), 3));
        Expr slope = centred(values.get(1), 5);
        Expr y = select(
                Exprs.ge(x, imm(0)),
                RequantizeCalls.of(x, positive, 1L << 16),
                RequantizeCalls.of(mul(x, slope), negative, 1L << 24));
        long most = Math.max(RequantizeCalls.largest(positive, 1L << 16), RequantizeCalls.largest(negative, 1L << 24));
        return RequantizeCalls.plus(block.let("scaled", y), zeroPoint(7), most);
    }

    private Expr comparison(QnnBinary.Kind kind, List<Expr> values) {
        Expr a = compared(values.get(0), 2);
        Expr b = compared(values.get(1), 4);
        return switch (kind) {
            case EQUAL -> Exprs.equal(a, b);
            case NOT_EQUAL -> Exprs.notEqual(a, b);
            case LESS -> Exprs.lt(a, b);
            case LESS_EQUAL -> Exprs.le(a, b);
            case GREATER -> Exprs.gt(a, b);
            case GREATER_EQUAL -> Exprs.ge(a, b);
            default -> throw new IllegalArgumentException(kind + " is not a comparison");
        };
    }

    private Expr compared(Expr value, int argument) {
        Expr shifted = mul(centred(value, argument + 1), 1L << COMPARISON_SHIFT);
        return RequantizeCalls.of(shifted, QuantizedMultiplier.of(scale(argument)), 1L << 25);
    }

    /** Quantized quotient by a table with the reciprocals of all divisors; the dividend takes the divisor's sign. */
    private ElementFunction quotient(Tables tables) {
        TflQuotient by = TflQuotient.of(scale(2), scale(4), scale(6));
        int[] all = IntStream.range(0, TflQuotient.DIVISORS).toArray();
        Buffer digits = tables.add(
                "reciprocals",
                DType.INT32,
                IntStream.of(all).map(TflQuotient::reciprocal).toArray());
        Buffer shifts = tables.add(
                "shifts",
                DType.INT8,
                IntStream.of(all).map(TflQuotient::reciprocalShift).toArray());
        return ElementFunction.saturating((block, values) -> {
            Expr x = block.let("x", centred(values.get(0), 3));
            Expr y = block.let("denominator", centred(values.get(1), 5));
            Expr isNegative = Exprs.lt(y, imm(0));
            Expr dividend = block.let("dividend", select(isNegative, sub(imm(0), x), x));
            Expr divisor = block.let("divisor", select(isNegative, sub(imm(0), y), y));
            Expr shift = sub(imm(by.by().shift()), load(shifts, divisor));
            Expr quotient = new Expr.Call(
                    ElementIntrinsics.QUOTIENT,
                    List.of(dividend, load(digits, divisor), imm(by.by().multiplier()), shift));
            return add(quotient, imm(zeroPoint(7)));
        });
    }

    private Expr centred(Expr value, int zeroPoint) {
        return sub(value, imm(zeroPoint(zeroPoint)));
    }

    private float scale(int argument) {
        return op.root().constant(argument).real(0);
    }

    private int zeroPoint(int argument) {
        return (int) op.root().constant(argument).integer(0);
    }
}
