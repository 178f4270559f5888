// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import io.kiln.tir.Expr.Binary;
import io.kiln.tir.Expr.BinaryOp;
import io.kiln.tir.Expr.Cast;
import io.kiln.tir.Expr.FloatImm;
import io.kiln.tir.Expr.IntImm;
import io.kiln.tir.Expr.Load;
import io.kiln.tir.Expr.Select;
import io.kiln.tir.Expr.Var;

/** Builds expressions and simplifies them: constants are folded, neutral elements removed, sums of constants merged. */
public final class Exprs {
    private Exprs() {}

    public static IntImm imm(long value) {
        return new IntImm(value, DType.INT32);
    }

    public static IntImm imm(long value, DType dtype) {
        return new IntImm(value, dtype);
    }

    public static FloatImm imm(float value) {
        return new FloatImm(value);
    }

    /** An int32 variable. */
    public static Var var(String name) {
        return new Var(name, DType.INT32);
    }

    public static Load load(Buffer buffer, Expr index) {
        return new Load(buffer, index);
    }

    public static Expr add(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y) {
            return fold(x.value() + y.value(), a, b);
        }
        if (isInt(a, 0)) {
            return b;
        }
        if (a instanceof IntImm x) {
            return addConstant(b, x);
        }
        return b instanceof IntImm y ? addConstant(a, y) : binary(BinaryOp.ADD, a, b);
    }

    public static Expr sub(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y) {
            return fold(x.value() - y.value(), a, b);
        }
        if (b instanceof IntImm y && !y.dtype().isWideUnsigned()) {
            return addConstant(a, imm(-y.value(), y.dtype()));
        }
        return binary(BinaryOp.SUB, a, b);
    }

    /** Merges a constant with a constant at the end of the expression; a negative one is subtracted. */
    private static Expr addConstant(Expr a, IntImm constant) {
        if (a instanceof Binary inner
                && inner.b() instanceof IntImm last
                && !inner.dtype().isWideUnsigned()) {
            if (inner.op() == BinaryOp.ADD) {
                return addConstant(inner.a(), fold(constant.value() + last.value(), last, constant));
            }
            if (inner.op() == BinaryOp.SUB) {
                return addConstant(inner.a(), fold(constant.value() - last.value(), last, constant));
            }
        }
        if (constant.value() == 0) {
            return a;
        }
        return constant.value() < 0 && !constant.dtype().isWideUnsigned()
                ? binary(BinaryOp.SUB, a, imm(-constant.value(), constant.dtype()))
                : binary(BinaryOp.ADD, a, constant);
    }

    public static Expr mul(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y) {
            return fold(x.value() * y.value(), a, b);
        }
        if (isInt(a, 0) || isInt(b, 1)) {
            return a;
        }
        if (isInt(a, 1) || isInt(b, 0)) {
            return b;
        }
        if (a instanceof IntImm) {
            return mul(b, a);
        }
        if (b instanceof IntImm y
                && a instanceof Binary inner
                && inner.op() == BinaryOp.MUL
                && inner.b() instanceof IntImm z) {
            return mul(inner.a(), fold(y.value() * z.value(), y, z));
        }
        return binary(BinaryOp.MUL, a, b);
    }

    public static Expr mul(Expr a, long b) {
        return mul(a, imm(b));
    }

    public static Expr add(Expr a, long b) {
        return add(a, imm(b));
    }

    /** Truncating division. */
    public static Expr div(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y && y.value() != 0 && areSigned(x, y)) {
            return fold(x.value() / y.value(), a, b);
        }
        return isInt(b, 1) ? a : binary(BinaryOp.DIV, a, b);
    }

    /** Remainder of {@link #div}. */
    public static Expr mod(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y && y.value() != 0 && areSigned(x, y)) {
            return fold(x.value() % y.value(), a, b);
        }
        return isInt(b, 1) ? imm(0) : binary(BinaryOp.MOD, a, b);
    }

    public static Expr shl(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y) {
            return fold(x.value() << y.value(), a, a);
        }
        return isInt(b, 0) ? a : shift(BinaryOp.SHL, a, b);
    }

    /** Arithmetic shift right. */
    public static Expr shr(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y && areSigned(x, y)) {
            return fold(x.value() >> y.value(), a, a);
        }
        return isInt(b, 0) ? a : shift(BinaryOp.SHR, a, b);
    }

    public static Expr bitAnd(Expr a, Expr b) {
        return binary(BinaryOp.BIT_AND, a, b);
    }

    public static Expr lt(Expr a, Expr b) {
        return binary(BinaryOp.LT, a, b);
    }

    public static Expr gt(Expr a, Expr b) {
        return binary(BinaryOp.GT, a, b);
    }

    public static Expr equal(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y) {
            return imm(x.value() == y.value() ? 1 : 0, DType.BOOL);
        }
        return binary(BinaryOp.EQ, a, b);
    }

    /** Whether the operands differ. */
    public static Expr notEqual(Expr a, Expr b) {
        return binary(BinaryOp.NE, a, b);
    }

    /** Less or equal; false for NaN. */
    public static Expr le(Expr a, Expr b) {
        return binary(BinaryOp.LE, a, b);
    }

    /** Greater or equal; false for NaN. */
    public static Expr ge(Expr a, Expr b) {
        return binary(BinaryOp.GE, a, b);
    }

    public static Expr or(Expr a, Expr b) {
        return binary(BinaryOp.OR, a, b);
    }

    public static Expr bitOr(Expr a, Expr b) {
        return binary(BinaryOp.BIT_OR, a, b);
    }

    public static Expr bitXor(Expr a, Expr b) {
        return binary(BinaryOp.BIT_XOR, a, b);
    }

    public static Expr and(Expr a, Expr b) {
        if (a instanceof IntImm x) {
            return x.value() == 0 ? a : b;
        }
        if (b instanceof IntImm y) {
            return y.value() == 0 ? b : a;
        }
        return binary(BinaryOp.AND, a, b);
    }

    public static Expr select(Expr condition, Expr then, Expr otherwise) {
        return new Select(condition, then, otherwise, promote(then.dtype(), otherwise.dtype()));
    }

    /** The smaller of two. */
    public static Expr min(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y && areSigned(x, y)) {
            return fold(Math.min(x.value(), y.value()), a, b);
        }
        return select(lt(a, b), a, b);
    }

    /** The larger of two. */
    public static Expr max(Expr a, Expr b) {
        if (a instanceof IntImm x && b instanceof IntImm y && areSigned(x, y)) {
            return fold(Math.max(x.value(), y.value()), a, b);
        }
        return select(gt(a, b), a, b);
    }

    public static Expr cast(DType dtype, Expr value) {
        if (value.dtype() == dtype) {
            return value;
        }
        if (value instanceof IntImm x && dtype.isInteger() && x.value() >= dtype.min() && x.value() <= dtype.max()) {
            return imm(x.value(), dtype);
        }
        return new Cast(dtype, value);
    }

    /** The type in which C computes with operands of these types. */
    public static DType promote(DType a, DType b) {
        if (a == b) {
            return promote(a);
        }
        if (promote(a) == promote(b)) {
            return promote(a);
        }
        throw new IllegalArgumentException("operands " + a.text() + " and " + b.text() + " do not mix");
    }

    private static DType promote(DType dtype) {
        return switch (dtype) {
            case INT8, UINT8, INT16, BOOL -> DType.INT32;
            case INT32, UINT32, INT64, UINT64, FLOAT32 -> dtype;
        };
    }

    private static Expr binary(BinaryOp op, Expr a, Expr b) {
        DType operands = promote(a.dtype(), b.dtype());
        return new Binary(op, a, b, op.isBoolean() ? DType.BOOL : operands);
    }

    private static Expr shift(BinaryOp op, Expr a, Expr b) {
        return new Binary(op, a, b, promote(a.dtype()));
    }

    private static IntImm fold(long value, Expr a, Expr b) {
        return new IntImm(value, promote(a.dtype(), b.dtype()));
    }

    /** Whether neither is a uint64 that exceeds signed 64 bits. */
    private static boolean areSigned(IntImm x, IntImm y) {
        return (x.dtype() != DType.UINT64 || x.value() >= 0) && (y.dtype() != DType.UINT64 || y.value() >= 0);
    }

    private static boolean isInt(Expr expr, long value) {
        return expr instanceof IntImm imm && imm.value() == value;
    }
}
