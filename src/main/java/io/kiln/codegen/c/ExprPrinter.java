// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.DType;
import io.kiln.tir.Expr;
import java.util.stream.Collectors;

/** Prints expressions with as few parentheses as C's precedences (and its compilers' warnings) allow. */
final class ExprPrinter {
    private static final int TERNARY = 3;
    private static final int UNARY = 14;
    private static final int PRIMARY = 16;

    private ExprPrinter() {}

    static String print(Expr expr) {
        return print(expr, 0);
    }

    private static String print(Expr expr, int context) {
        String text = text(expr);
        return precedence(expr) < context ? "(" + text + ")" : text;
    }

    private static int precedence(Expr expr) {
        if (expr instanceof Expr.Binary binary) {
            return binary.op().precedence();
        }
        if (expr instanceof Expr.Select) {
            return TERNARY;
        }
        if (expr instanceof Expr.Cast) {
            return UNARY;
        }
        boolean negative =
                (expr instanceof Expr.IntImm i && i.value() < 0) || (expr instanceof Expr.FloatImm f && f.value() < 0);
        return negative ? UNARY : PRIMARY;
    }

    private static String text(Expr expr) {
        if (expr instanceof Expr.IntImm imm) {
            return integer(imm);
        }
        if (expr instanceof Expr.FloatImm imm) {
            return Float.toString(imm.value()).replace("E", "e") + "f";
        }
        if (expr instanceof Expr.Var variable) {
            return variable.name();
        }
        if (expr instanceof Expr.Load load) {
            return load.buffer().name() + "[" + print(load.index()) + "]";
        }
        if (expr instanceof Expr.Cast cast) {
            return "(" + cast.dtype().cName() + ")" + print(cast.value(), UNARY);
        }
        if (expr instanceof Expr.Select select) {
            return print(select.condition(), TERNARY + 1) + " ? " + print(select.then(), TERNARY + 1) + " : "
                    + print(select.otherwise(), TERNARY + 1);
        }
        if (expr instanceof Expr.Call call) {
            return call.intrinsic().name()
                    + call.args().stream().map(ExprPrinter::print).collect(Collectors.joining(", ", "(", ")"));
        }
        return binary((Expr.Binary) expr);
    }

    private static String binary(Expr.Binary binary) {
        int precedence = binary.op().precedence();
        int left = precedence;
        boolean integerSum = binary.op() == Expr.BinaryOp.ADD && binary.dtype().isInteger();
        int right = integerSum ? precedence : precedence + 1;
        if (isClearerInParentheses(binary.op())) {
            left = UNARY;
            right = UNARY;
        }
        if (binary.op() == Expr.BinaryOp.SUB && binary.a() instanceof Expr.IntImm zero && zero.value() == 0) {
            return "-" + print(binary.b(), UNARY + 1);
        }
        return print(binary.a(), left) + " " + binary.op().symbol() + " " + print(binary.b(), right);
    }

    /** Operators whose precedence people and compilers doubt. */
    private static boolean isClearerInParentheses(Expr.BinaryOp op) {
        return switch (op) {
            case SHL, SHR, BIT_AND, BIT_XOR, BIT_OR, OR -> true;
            default -> false;
        };
    }

    private static String integer(Expr.IntImm imm) {
        long value = imm.value();
        if (imm.dtype() == DType.INT64) {
            return value == Long.MIN_VALUE ? "INT64_MIN" : "INT64_C(" + value + ")";
        }
        if (imm.dtype() == DType.UINT32) {
            return value + "u";
        }
        return value == Integer.MIN_VALUE ? "INT32_MIN" : Long.toString(value);
    }
}
