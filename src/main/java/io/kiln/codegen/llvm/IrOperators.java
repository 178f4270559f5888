// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import io.kiln.tir.Expr.BinaryOp;

/**
 * Prints the instructions of LLVM IR for operators. Sums and products of signed integers are {@code nsw}: in C their overflow is
 * undefined, and the loop IR has the rules of C. Unsigned ones wrap, and shifts to the left drop bits.
 */
final class IrOperators {
    private IrOperators() {}

    static String arithmetic(BinaryOp op, DType dtype) {
        if (dtype.isFloat()) {
            return switch (op) {
                case ADD -> "fadd";
                case SUB -> "fsub";
                case MUL -> "fmul";
                case DIV -> "fdiv";
                default -> throw new IllegalArgumentException(op + " of float32");
            };
        }
        boolean unsigned = IrType.isUnsigned(dtype);
        return switch (op) {
            case ADD -> unsigned ? "add" : "add nsw";
            case SUB -> unsigned ? "sub" : "sub nsw";
            case MUL -> unsigned ? "mul" : "mul nsw";
            case DIV -> unsigned ? "udiv" : "sdiv";
            case MOD -> unsigned ? "urem" : "srem";
            case BIT_AND -> "and";
            case BIT_XOR -> "xor";
            case BIT_OR -> "or";
            default -> throw new IllegalArgumentException(op + " is not an arithmetic operator");
        };
    }

    static String shift(BinaryOp op, DType dtype) {
        return op == BinaryOp.SHL ? "shl" : IrType.isUnsigned(dtype) ? "lshr" : "ashr";
    }

    /** Comparisons with NaN are false, but for "not equal". */
    static String comparison(BinaryOp op, DType dtype) {
        String order = dtype.isFloat() ? "o" : IrType.isUnsigned(dtype) ? "u" : "s";
        String name = switch (op) {
            case LT -> order + "lt";
            case GT -> order + "gt";
            case LE -> order + "le";
            case GE -> order + "ge";
            case EQ -> dtype.isFloat() ? "oeq" : "eq";
            case NE -> dtype.isFloat() ? "une" : "ne";
            default -> throw new IllegalArgumentException(op + " compares nothing");
        };
        return (dtype.isFloat() ? "fcmp " : "icmp ") + name;
    }
}
