// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.List;

/**
 * An expression of the loop IR. Integers narrower than 32 bits are promoted to int32 by every operation, as in C; 32-bit and 64-bit
 * operands mix only through {@link Cast}. Build expressions with {@link Exprs}, which folds constants.
 */
public sealed interface Expr {
    /** Type of the value before promotion. */
    DType dtype();

    /** An integer literal. */
    record IntImm(long value, DType dtype) implements Expr {}

    /** A float32 literal, bit for bit: NaN keeps its sign and payload. */
    record FloatImm(float value) implements Expr {
        @Override
        public DType dtype() {
            return DType.FLOAT32;
        }
    }

    /** A scalar variable: loop variable, parameter or local. Names are unique in a function. */
    record Var(String name, DType dtype) implements Expr {}

    /** An element of a buffer; the index counts elements. */
    record Load(Buffer buffer, Expr index) implements Expr {
        @Override
        public DType dtype() {
            return buffer.dtype();
        }
    }

    /** Two-operand operators; comparison and logic give bool. */
    enum BinaryOp {
        ADD("+", 12),
        SUB("-", 12),
        MUL("*", 13),
        /** Truncating, as in C. */
        DIV("/", 13),
        MOD("%", 13),
        SHL("<<", 11),
        /** Arithmetic for signed types. */
        SHR(">>", 11),
        BIT_AND("&", 8),
        BIT_XOR("^", 7),
        BIT_OR("|", 6),
        LT("<", 10),
        GT(">", 10),
        LE("<=", 10),
        GE(">=", 10),
        EQ("==", 9),
        NE("!=", 9),
        AND("&&", 5),
        OR("||", 4);

        private final String symbol;
        private final int precedence;

        BinaryOp(String symbol, int precedence) {
            this.symbol = symbol;
            this.precedence = precedence;
        }

        /** The operator's symbol in C. */
        String symbol() {
            return symbol;
        }

        /** C's precedence; higher binds tighter. */
        int precedence() {
            return precedence;
        }

        boolean isBoolean() {
            return switch (this) {
                case LT, GT, LE, GE, EQ, NE, AND, OR -> true;
                case ADD, SUB, MUL, DIV, MOD, SHL, SHR, BIT_AND, BIT_XOR, BIT_OR -> false;
            };
        }
    }

    /** A two-operand operation; {@code dtype} is the promoted type of the operands, or bool. */
    record Binary(BinaryOp op, Expr a, Expr b, DType dtype) implements Expr {}

    /** A conversion; integer narrowing keeps the low bits. */
    record Cast(DType dtype, Expr value) implements Expr {}

    /** {@code condition ? then : otherwise}, of one type. */
    record Select(Expr condition, Expr then, Expr otherwise, DType dtype) implements Expr {}

    /** A call of an intrinsic. */
    record Call(Intrinsic intrinsic, List<Expr> args) implements Expr {
        public Call {
            args = List.copyOf(args);
        }

        @Override
        public DType dtype() {
            return intrinsic.result();
        }
    }
}
