// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
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
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflLookup16;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.element.Where;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Tables;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Map;

/** The element functions of fused operators' roots. */
final class ElementFunctions {
    /** Selects the function for a fused operator. */
    interface Rule<O extends Op> {
        ElementFunction of(O root, FusedOperator op, Tables tables, ElementStyle style);
    }

    /** The element-wise operators. A single requantization or clip is an epilogue without a preceding operator. */
    static final Map<Class<? extends Op>, Rule<Op>> ALL = Map.ofEntries(
            entry(
                    Unary.class,
                    (root, op, tables, style) ->
                            UnaryFunctions.of(root, op.type().dtype())),
            entry(LeakyRelu.class, (root, op, tables, style) -> UnaryFunctions.leakyRelu(root)),
            entry(Binary.class, (root, op, tables, style) -> BinaryFunctions.of(root.kind(), data(op))),
            entry(
                    FixedPointMultiply.class,
                    (root, op, tables, style) -> BinaryFunctions.fixedPointMultiply(root.rounding())),
            entry(Cast.class, (root, op, tables, style) -> CastFunctions.of(data(op), root.dtype())),
            entry(
                    Reinterpret.class,
                    (root, op, tables, style) -> fitting((block, x) -> new Expr.Call(
                            root.dtype().isFloat() ? ElementIntrinsics.BITS_TO_FLOAT : ElementIntrinsics.FLOAT_TO_BITS,
                            List.of(x.get(0))))),
            entry(Where.class, (root, op, tables, style) -> where()),
            entry(QnnAdd.class, (root, op, tables, style) -> new QuantizedFunctions(op).sum(root)),
            entry(QnnBinary.class, (root, op, tables, style) -> new QuantizedFunctions(op).binary(root, tables)),
            entry(TflAddN.class, (root, op, tables, style) -> QuantizedFunctions.addN(root)),
            entry(
                    TflLeakyRelu.class,
                    (root, op, tables, style) -> style.hasLongMultiply()
                            ? QuantizedFunctions.leakyRelu(root)
                            : QuantizedFunctions.bySign(root)),
            entry(PairLookup.class, (root, op, tables, style) -> PairFunctions.of(root, op, tables)),
            entry(TflLookup16.class, (root, op, tables, style) -> TableFunctions.interpolated(op, tables)),
            entry(TflLookup.class, (root, op, tables, style) -> TableFunctions.lookup(op, tables)),
            entry(
                    TflSigmoid16.class,
                    (root, op, tables, style) -> TableFunctions.sigmoid(root, TableFunctions.sigmoidTable(tables))),
            entry(QnnDequantize.class, (root, op, tables, style) -> FloatConversions.dequantized(op, tables, style)),
            entry(QnnQuantize.class, FloatConversions::quantized),
            entry(BiasAdd.class, (root, op, tables, style) -> biasAdd(op)),
            entry(Full.class, (root, op, tables, style) -> same(true)),
            entry(Copy.class, (root, op, tables, style) -> same(true)),
            entry(Reshape.class, (root, op, tables, style) -> same(true)),
            entry(Clip.class, (root, op, tables, style) -> same(false)),
            entry(TflRequantize.class, (root, op, tables, style) -> same(false).arithmetic()),
            entry(QnnRequantize.class, (root, op, tables, style) -> same(false)),
            entry(OnnxRequantize.class, (root, op, tables, style) -> same(false)),
            entry(TflRealRequantize.class, (root, op, tables, style) -> same(false)));

    private ElementFunctions() {}

    private static <O extends Op> Map.Entry<Class<? extends Op>, Rule<Op>> entry(Class<O> root, Rule<O> rule) {
        return Map.entry(root, (any, op, tables, style) -> rule.of(root.cast(any), op, tables, style));
    }

    static ElementFunction of(FusedOperator op, Tables tables, ElementStyle style) {
        Op root = op.root().op();
        return ALL.get(root.getClass()).of(root, op, tables, style);
    }

    private static DType data(FusedOperator op) {
        return op.rootTypes().get(0).dtype();
    }

    /** The function whose result is its element unchanged. */
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

    /** Conversions of one element. */
    private static final class CastFunctions {
        private CastFunctions() {}

        /** A store keeps the low bits of integers; float32 is first converted to an integer of 32 bits, saturated. */
        static ElementFunction of(DType from, DType to) {
            if (to.isFloat()) {
                return fitting((block, x) -> Exprs.cast(DType.FLOAT32, x.get(0)));
            }
            if (!from.isFloat()) {
                boolean isKept = from.isLong() == to.isLong() && (from == to || !from.isLong());
                return fitting((block, x) -> isKept ? x.get(0) : Exprs.cast(to, x.get(0)));
            }
            if (to == DType.INT64) {
                return fitting((block, x) -> new Expr.Call(LongIntrinsics.OF_FLOAT, List.of(x.get(0))));
            }
            if (to == DType.UINT64) {
                return fitting((block, x) -> new Expr.Call(LongIntrinsics.UNSIGNED_OF_FLOAT, List.of(x.get(0))));
            }
            Intrinsic truncated = to == DType.UINT32 ? ElementIntrinsics.FLOAT_TO_UINT : ElementIntrinsics.FLOAT_TO_INT;
            return fitting((block, x) -> new Expr.Call(truncated, List.of(x.get(0))));
        }
    }
}
