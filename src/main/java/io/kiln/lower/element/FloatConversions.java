// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.StepSearch;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Element-wise conversions between floats and quantized values. */
final class FloatConversions {
    private static final int VALUES = 1 << Byte.SIZE;

    private FloatConversions() {}

    /**
     * Converts quantized values to floats. Large int8 tensors on cores without a floating-point unit take a table, which is about
     * as large as the library's functions for floats.
     */
    static ElementFunction dequantized(FusedOperator op, Tables tables, ElementStyle style) {
        boolean isLong = op.type().shape().elements() >= VALUES;
        if (!style.hasFpu() && isLong && op.rootTypes().get(0).dtype() == DType.INT8) {
            return byTable(op, tables);
        }
        float scale = scale(op);
        boolean isPowerOfTwo = scale == Math.scalb(1f, Math.getExponent(scale));
        Expr factor = isPowerOfTwo ? new Expr.Call(ElementIntrinsics.POWER_OF_TWO, List.of(imm(scale))) : imm(scale);
        return ElementFunction.fitting((block, x) ->
                mul(cast(DType.FLOAT32, sub(x.get(0), imm(zeroPoint(op)))), factor));
    }

    static ElementFunction quantized(QnnQuantize root, FusedOperator op, Tables tables, ElementStyle style) {
        boolean isByKeys = root.rounding() == Rounding.ONNX || !style.hasFpu();
        return isByKeys && op.type().dtype() == DType.INT8
                ? byKeys(root, op, tables)
                : ElementFunction.saturating((block, x) -> quantized(root, op, block, x.get(0)));
    }

    private static float scale(FusedOperator op) {
        return op.root().constant(1).real(0);
    }

    private static int zeroPoint(FusedOperator op) {
        return (int) op.root().constant(2).integer(0);
    }

    private static ElementFunction byTable(FusedOperator op, Tables tables) {
        float[] values = new float[VALUES];
        for (int i = 0; i < VALUES; i++) {
            values[i] = scale(op) * (Byte.MIN_VALUE + i - zeroPoint(op));
        }
        Buffer table = tables.add("values", values);
        return ElementFunction.fitting((block, x) -> load(table, sub(x.get(0), imm(Byte.MIN_VALUE))));
    }

    /** Quantizes a float without floating-point arithmetic: the result is the number of steps that are not above the float. */
    private static ElementFunction byKeys(QnnQuantize root, FusedOperator op, Tables tables) {
        DoubleUnaryOperator round = root.rounding() == Rounding.ONNX ? Math::rint : FixedPoint::roundHalfAway;
        Buffer steps = tables.add("steps", DType.INT32, FloatKeys.steps(scale(op), zeroPoint(op), round));
        return ElementFunction.fitting((block, x) -> {
            Expr key = block.let("key", new Expr.Call(ElementIntrinsics.FLOAT_KEY, List.of(x.get(0))));
            return add(StepSearch.of(block, steps, imm(0), FloatKeys.STEPS, key), imm(Byte.MIN_VALUE));
        });
    }

    /** Quantizes a float with a division. The quotient is clamped before it becomes an integer, so that no float exceeds the integer's range. */
    private static Expr quantized(QnnQuantize root, FusedOperator op, BlockBuilder block, Expr value) {
        DType dtype = op.type().dtype();
        boolean isToEven = root.rounding() == Rounding.ONNX;
        Expr quotient = Exprs.div(value, imm(scale(op)));
        Expr steps = block.let(
                isToEven ? "steps" : "rounded",
                isToEven ? quotient : new Expr.Call(Intrinsic.ROUNDF, List.of(quotient)));
        Expr above = block.let("above", Exprs.max(steps, imm((float) (dtype.min() - zeroPoint(op)))));
        Expr within = Exprs.min(above, imm((float) (dtype.max() - zeroPoint(op))));
        Expr rounded =
                isToEven ? new Expr.Call(ElementIntrinsics.ROUND_SMALL, List.of(block.let("within", within))) : within;
        return add(cast(DType.INT32, rounded), imm(zeroPoint(op)));
    }
}
