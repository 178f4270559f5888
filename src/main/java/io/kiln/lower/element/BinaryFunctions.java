// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.select;

import io.kiln.base.DType;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary.Kind;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.function.BinaryOperator;

/** Element-wise functions of two unquantized operands. */
final class BinaryFunctions {
    private BinaryFunctions() {}

    static ElementFunction of(Kind kind, DType dtype) {
        return fitting((block, operands) -> {
            boolean twice = isExtreme(kind) || kind == Kind.PRELU;
            Expr a = twice ? block.let("lhs", operands.get(0)) : operands.get(0);
            Expr b = twice ? block.let("rhs", operands.get(1)) : operands.get(1);
            return emit(kind, dtype, block, a, b);
        });
    }

    private static boolean isExtreme(Kind kind) {
        return switch (kind) {
            case MAXIMUM, MINIMUM, MAXIMUM_OR_NAN, MINIMUM_OR_NAN -> true;
            default -> false;
        };
    }

    private static Expr emit(Kind kind, DType dtype, BlockBuilder block, Expr a, Expr b) {
        return switch (kind) {
            case ADD -> dtype == DType.INT64 ? call(ElementIntrinsics.ADD_64, a, b) : wrapping(Exprs::add, dtype, a, b);
            case SUBTRACT ->
                dtype == DType.INT64 ? call(ElementIntrinsics.SUBTRACT_64, a, b) : wrapping(Exprs::sub, dtype, a, b);
            case MULTIPLY ->
                dtype == DType.INT64 ? call(ElementIntrinsics.MULTIPLY_64, a, b) : wrapping(Exprs::mul, dtype, a, b);
            case DIVIDE ->
                dtype.isFloat()
                        ? Exprs.div(a, b)
                        : call(dtype == DType.INT64 ? ElementIntrinsics.DIVIDE_64 : ElementIntrinsics.DIVIDE, a, b);
            case LEFT_SHIFT ->
                call(dtype == DType.INT64 ? ElementIntrinsics.LEFT_SHIFT_64 : ElementIntrinsics.LEFT_SHIFT, a, b);
            case RIGHT_SHIFT ->
                call(dtype == DType.INT64 ? ElementIntrinsics.RIGHT_SHIFT_64 : ElementIntrinsics.RIGHT_SHIFT, a, b);
            case BITWISE_AND -> Exprs.bitAnd(a, b);
            case BITWISE_OR -> Exprs.bitOr(a, b);
            case BITWISE_XOR -> Exprs.bitXor(a, b);
            case MAXIMUM -> Exprs.max(a, b);
            case MINIMUM -> Exprs.min(a, b);
            case MAXIMUM_OR_NAN -> dtype.isFloat() ? orNan(Exprs.gt(a, b), a, b) : Exprs.max(a, b);
            case MINIMUM_OR_NAN -> dtype.isFloat() ? orNan(Exprs.lt(a, b), a, b) : Exprs.min(a, b);
            case FLOOR_DIVIDE -> call(ElementIntrinsics.FLOOR_DIVIDE, a, b);
            case FLOOR_MOD -> call(ElementIntrinsics.FLOOR_MOD, a, b);
            case POWER -> call(dtype.isFloat() ? ElementIntrinsics.POWER : ElementIntrinsics.POWER_32, a, b);
            case ATAN2 -> call(ElementIntrinsics.ATAN2, a, b);
            case SQUARED_DIFFERENCE -> {
                Expr difference = block.let("difference", wrapping(Exprs::sub, dtype, a, b));
                yield wrapping(Exprs::mul, dtype, difference, difference);
            }
            case QUANTIZATION_SCALE -> call(ElementIntrinsics.QUANTIZATION_SCALE, a, b);
            case QUANTIZATION_ZERO_POINT -> call(ElementIntrinsics.QUANTIZATION_ZERO_POINT, a, b);
            case PRELU -> select(Exprs.ge(a, imm(0f)), a, Exprs.mul(a, b));
            case EQUAL -> Exprs.equal(a, b);
            case NOT_EQUAL -> Exprs.notEqual(a, b);
            case LESS -> Exprs.lt(a, b);
            case LESS_EQUAL -> Exprs.le(a, b);
            case GREATER -> Exprs.gt(a, b);
            case GREATER_EQUAL -> Exprs.ge(a, b);
            case LOGICAL_AND -> Exprs.and(a, b);
            case LOGICAL_OR -> Exprs.or(a, b);
        };
    }

    /** The left operand if it wins or is NaN; the right one if that is NaN, because no comparison with it holds. */
    private static Expr orNan(Expr wins, Expr a, Expr b) {
        return select(Exprs.or(wins, Exprs.notEqual(a, a)), a, b);
    }

    /** Signed overflow is undefined in C; unsigned arithmetic wraps around as the integers do. */
    private static Expr wrapping(BinaryOperator<Expr> operation, DType dtype, Expr a, Expr b) {
        return dtype == DType.INT32 ? cast(DType.INT32, operation.apply(bits(a), bits(b))) : operation.apply(a, b);
    }

    private static Expr bits(Expr value) {
        return value instanceof Expr.IntImm literal
                ? imm(Integer.toUnsignedLong((int) literal.value()), DType.UINT32)
                : cast(DType.UINT32, value);
    }

    static ElementFunction fixedPointMultiply(Rounding rounding) {
        Intrinsic product = rounding == Rounding.UPWARD
                ? ElementIntrinsics.FIXED_POINT_UPWARD
                : ElementIntrinsics.FIXED_POINT_TO_NEAREST;
        return fitting((block, operands) -> new Expr.Call(product, operands));
    }

    private static Expr call(Intrinsic intrinsic, Expr a, Expr b) {
        return new Expr.Call(intrinsic, List.of(a, b));
    }
}
