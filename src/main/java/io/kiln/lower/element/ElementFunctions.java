// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.PairLookup;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
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
import java.util.Map;

/** The element functions of fused operators' roots. */
final class ElementFunctions {
    /** Selects the function for a fused operator. */
    interface Rule<O extends Op> {
        ElementFunction of(O root, FusedOperator op, Tables tables);
    }

    /** The element-wise operators. A single rescaling or clip is an epilogue without a preceding operator. */
    static final Map<Class<? extends Op>, Rule<Op>> ALL = Map.ofEntries(
            entry(
                    Unary.class,
                    (root, op, tables) -> UnaryFunctions.of(root, op.type().dtype())),
            entry(LeakyRelu.class, (root, op, tables) -> UnaryFunctions.leakyRelu(root)),
            entry(Binary.class, (root, op, tables) -> BinaryFunctions.of(root.kind(), data(op))),
            entry(FixedPointMultiply.class, (root, op, tables) -> BinaryFunctions.fixedPointMultiply(root.rounding())),
            entry(Cast.class, (root, op, tables) -> CastFunctions.of(data(op), root.dtype())),
            entry(Where.class, (root, op, tables) -> where()),
            entry(QnnAdd.class, (root, op, tables) -> new QuantizedFunctions(op).sum(root)),
            entry(QnnBinary.class, (root, op, tables) -> new QuantizedFunctions(op).binary(root.kind(), tables)),
            entry(TflAddN.class, (root, op, tables) -> QuantizedFunctions.addN(root)),
            entry(TflLeakyRelu.class, (root, op, tables) -> QuantizedFunctions.leakyRelu(root)),
            entry(PairLookup.class, PairFunctions::of),
            entry(TflLookup.class, (root, op, tables) -> TableFunctions.lookup(op, tables)),
            entry(
                    TflSigmoid16.class,
                    (root, op, tables) -> TableFunctions.sigmoid(root, TableFunctions.sigmoidTable(tables))),
            entry(QnnDequantize.class, (root, op, tables) -> dequantized(op)),
            entry(QnnQuantize.class, ElementFunctions::quantized),
            entry(BiasAdd.class, (root, op, tables) -> biasAdd(op)),
            entry(Full.class, (root, op, tables) -> same(true)),
            entry(Copy.class, (root, op, tables) -> same(true)),
            entry(Reshape.class, (root, op, tables) -> same(true)),
            entry(Clip.class, (root, op, tables) -> same(false)),
            entry(TflRequantize.class, (root, op, tables) -> same(false).arithmetic()),
            entry(QnnRequantize.class, (root, op, tables) -> same(false)),
            entry(OnnxRequantize.class, (root, op, tables) -> same(false)));

    private ElementFunctions() {}

    private static <O extends Op> Map.Entry<Class<? extends Op>, Rule<Op>> entry(Class<O> root, Rule<O> rule) {
        return Map.entry(root, (any, op, tables) -> rule.of(root.cast(any), op, tables));
    }

    static ElementFunction of(FusedOperator op, Tables tables, ElementStyle style) {
        Op root = op.root().op();
        if (root instanceof TflLeakyRelu leakyRelu && !style.hasLongMultiply()) {
            return QuantizedFunctions.bySign(leakyRelu);
        }
        return ALL.get(root.getClass()).of(root, op, tables);
    }

    private static DType data(FusedOperator op) {
        return op.rootTypes().get(0).dtype();
    }

    /** The element unchanged. */
    private static ElementFunction same(boolean fits) {
        return new ElementFunction((block, x) -> x.get(0), fits, "", false);
    }

    private static ElementFunction where() {
        return ElementFunction.fitting(
                (block, x) -> Exprs.select(Exprs.notEqual(x.get(0), imm(0)), x.get(1), x.get(2)));
    }

    private static ElementFunction biasAdd(FusedOperator op) {
        boolean isWord = op.type().dtype() == DType.INT32;
        return isWord || op.root().args().get(1) instanceof Arg.Ref
                ? BinaryFunctions.of(Binary.Kind.ADD, op.type().dtype())
                : ElementFunction.saturating((block, x) -> add(x.get(0), x.get(1)));
    }

    private static ElementFunction dequantized(FusedOperator op) {
        float scale = op.root().constant(1).real(0);
        int zeroPoint = (int) op.root().constant(2).integer(0);
        boolean isPowerOfTwo = scale == Math.scalb(1f, Math.getExponent(scale));
        Expr factor = isPowerOfTwo ? new Expr.Call(ElementIntrinsics.POWER_OF_TWO, List.of(imm(scale))) : imm(scale);
        return ElementFunction.fitting((block, x) -> mul(cast(DType.FLOAT32, sub(x.get(0), imm(zeroPoint))), factor));
    }

    private static ElementFunction quantized(QnnQuantize root, FusedOperator op, Tables tables) {
        return root.rounding() == Rounding.ONNX && op.type().dtype() == DType.INT8
                ? byKeys(op, tables)
                : ElementFunction.saturating((block, x) -> quantized(root, op, block, x.get(0)));
    }

    /** Without floats: the number of results below the float. */
    private static ElementFunction byKeys(FusedOperator op, Tables tables) {
        float scale = op.root().constant(1).real(0);
        int zeroPoint = (int) op.root().constant(2).integer(0);
        Buffer steps = tables.add("steps", DType.INT32, FloatKeys.steps(scale, zeroPoint));
        return ElementFunction.fitting((block, x) -> {
            Expr key = block.let("key", new Expr.Call(ElementIntrinsics.FLOAT_KEY, List.of(x.get(0))));
            return add(StepSearch.of(block, steps, imm(0), FloatKeys.STEPS, key), imm(Byte.MIN_VALUE));
        });
    }

    /** The quotient is clamped before it becomes an integer, so that no float exceeds the integer's range. */
    private static Expr quantized(QnnQuantize root, FusedOperator op, BlockBuilder block, Expr value) {
        DType dtype = op.type().dtype();
        float scale = op.root().constant(1).real(0);
        int zeroPoint = (int) op.root().constant(2).integer(0);
        boolean isToEven = root.rounding() == Rounding.ONNX;
        Expr quotient = Exprs.div(value, imm(scale));
        Expr steps = block.let(
                isToEven ? "steps" : "rounded",
                isToEven ? quotient : new Expr.Call(Intrinsic.ROUNDF, List.of(quotient)));
        Expr above = block.let("above", Exprs.max(steps, imm((float) (dtype.min() - zeroPoint))));
        Expr within = Exprs.min(above, imm((float) (dtype.max() - zeroPoint)));
        Expr rounded =
                isToEven ? new Expr.Call(ElementIntrinsics.ROUND_SMALL, List.of(block.let("within", within))) : within;
        return add(cast(DType.INT32, rounded), imm(zeroPoint));
    }
}
