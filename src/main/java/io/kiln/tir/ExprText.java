// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.DType;
import java.util.stream.Collectors;

/** Prints expressions with as few parentheses as C's precedences (and compilers' warnings) allow. */
public record ExprText(Notation notation) {
    private static final int TERNARY = 3;
    private static final int UNARY = 14;
    private static final int PRIMARY = 16;

    /** The form of literals and types in a language. */
    public interface Notation {
        String integer(Expr.IntImm literal);

        String real(Expr.FloatImm literal);

        String type(DType dtype);
    }

    /** The expression's text. */
    public String print(Expr expr) {
        return print(expr, 0);
    }

    private String print(Expr expr, int context) {
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
        boolean negative = (expr instanceof Expr.IntImm i && i.value() < 0 && i.dtype() != DType.UINT64)
                || (expr instanceof Expr.FloatImm f && isNegative(f.value()));
        return negative ? UNARY : PRIMARY;
    }

    /** Whether a minus stands in front; NaN may have a sign too. */
    private static boolean isNegative(float value) {
        return value < 0 || (Float.isNaN(value) && Float.floatToRawIntBits(value) < 0);
    }

    private String text(Expr expr) {
        if (expr instanceof Expr.IntImm imm) {
            return notation.integer(imm);
        }
        if (expr instanceof Expr.FloatImm imm) {
            return notation.real(imm);
        }
        if (expr instanceof Expr.Var variable) {
            return variable.name();
        }
        if (expr instanceof Expr.Load load) {
            return load.buffer().name() + "[" + print(load.index()) + "]";
        }
        if (expr instanceof Expr.Cast cast) {
            return "(" + notation.type(cast.dtype()) + ")" + print(cast.value(), UNARY);
        }
        if (expr instanceof Expr.Select select) {
            return print(select.condition(), TERNARY + 1) + " ? " + print(select.then(), TERNARY + 1) + " : "
                    + print(select.otherwise(), TERNARY + 1);
        }
        if (expr instanceof Expr.Call call) {
            return call.intrinsic().name()
                    + call.args().stream().map(this::print).collect(Collectors.joining(", ", "(", ")"));
        }
        return binary((Expr.Binary) expr);
    }

    private String binary(Expr.Binary binary) {
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

    /** Operators whose precedence is easily mistaken. */
    private static boolean isClearerInParentheses(Expr.BinaryOp op) {
        return switch (op) {
            case SHL, SHR, BIT_AND, BIT_XOR, BIT_OR, OR -> true;
            default -> false;
        };
    }
}
