// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;

/** Functions of one element, most of them from libm. */
public final class UnaryFunctions {
    /** Argument from which on the logistic function's reference kernel returns 1 (reference/logistic.h). */
    private static final float LOGISTIC_ONE = 16.619047f;

    /** Below this argument the logistic function is the exponential. */
    private static final float LOGISTIC_EXP = -9f;

    private UnaryFunctions() {}

    public static ElementFunction of(Unary op, DType dtype) {
        return switch (op.kind()) {
            case ABS -> dtype.isFloat() ? libm("fabsf") : fitting((block, x) -> magnitude(block, x.get(0)));
            case NEGATIVE -> fitting((block, x) -> mul(x.get(0), imm(-1f)));
            case SQRT -> libm("sqrtf");
            case RSQRT -> fitting((block, x) -> div(imm(1f), call("sqrtf", x.get(0))));
            case EXP -> libm("expf");
            case LOG -> libm("logf");
            case SIN -> libm("sinf");
            case COS -> libm("cosf");
            case CEIL -> libm("ceilf");
            case FLOOR -> libm("floorf");
            case ROUND -> libm("rintf");
            case ROUND_AWAY -> libm("roundf");
            case ROUND_FLOAT16 -> helper(ElementIntrinsics.ROUND_FLOAT16);
            case ROUND_BFLOAT16 -> helper(ElementIntrinsics.ROUND_BFLOAT16);
            case TANH -> libm("tanhf");
            case ERF -> libm("erff");
            case ERFC -> helper(ElementIntrinsics.ERFC);
            case SIGMOID -> fitting((block, x) -> sigmoid(block, block.let("x", x.get(0))));
            case ELU -> fitting((block, x) -> elu(block.let("x", x.get(0))));
            case HARD_SWISH -> fitting((block, x) -> hardSwish(block, block.let("x", x.get(0))));
            case LOGICAL_NOT -> fitting((block, x) -> Exprs.equal(x.get(0), imm(0)));
        };
    }

    static ElementFunction leakyRelu(LeakyRelu op) {
        return fitting((block, operands) -> {
            Expr x = block.let("x", operands.get(0));
            return select(gt(x, imm(0f)), x, mul(x, imm(op.alpha())));
        });
    }

    private static Expr magnitude(BlockBuilder block, Expr value) {
        Expr x = block.let("x", value);
        return select(lt(x, imm(0)), sub(imm(0), x), x);
    }

    /** The logistic function by one exponential, whose argument is at most 9, so that it stays finite. */
    private static Expr sigmoid(BlockBuilder block, Expr x) {
        Expr isSmall = lt(x, imm(LOGISTIC_EXP));
        Expr e = block.let("e", call("expf", select(isSmall, x, mul(x, imm(-1f)))));
        Expr below = select(isSmall, e, div(imm(1f), add(e, imm(1f))));
        return select(gt(x, imm(LOGISTIC_ONE)), imm(1f), below);
    }

    private static Expr elu(Expr x) {
        return select(lt(x, imm(0f)), call("expm1f", x), x);
    }

    private static Expr hardSwish(BlockBuilder block, Expr x) {
        Expr above = block.let("above", Exprs.max(block.let("shifted", add(x, imm(3f))), imm(0f)));
        return div(mul(x, Exprs.min(above, imm(6f))), imm(6f));
    }

    private static ElementFunction helper(Intrinsic intrinsic) {
        return fitting((block, x) -> new Expr.Call(intrinsic, List.of(x.get(0))));
    }

    private static ElementFunction libm(String name) {
        return fitting((block, x) -> call(name, x.get(0)));
    }

    private static Expr call(String name, Expr x) {
        return new Expr.Call(Intrinsic.libm(name, 1), List.of(x));
    }
}
