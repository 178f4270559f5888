// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static io.kiln.lower.element.ElementFunction.fitting;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.FloatKeys;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Cast;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.FixedPointMultiply;
import io.kiln.ir.op.element.Full;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Lookups.PairLookup;
import io.kiln.ir.op.element.Lookups.TflLookup;
import io.kiln.ir.op.element.Lookups.TflLookup16;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnBinary;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.Reinterpret;
import io.kiln.ir.op.element.TflAddN;
import io.kiln.ir.op.element.TflLeakyRelu;
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
import io.kiln.lower.Intrinsics;
import io.kiln.lower.StepSearch;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleUnaryOperator;

/** The element functions of fused operators' roots: conversions between floats and quantized values, and functions of two bytes. */
final class ElementFunctions {
    private static final int VALUES = 1 << Byte.SIZE;

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
            entry(PairLookup.class, (root, op, tables, style) -> ofPair(root, op, tables)),
            entry(TflLookup16.class, (root, op, tables, style) -> TableFunctions.interpolated(op, tables)),
            entry(TflLookup.class, (root, op, tables, style) -> TableFunctions.lookup(op, tables)),
            entry(
                    TflSigmoid16.class,
                    (root, op, tables, style) -> TableFunctions.sigmoid(root, TableFunctions.sigmoidTable(tables))),
            entry(QnnDequantize.class, (root, op, tables, style) -> dequantized(op, tables, style)),
            entry(QnnQuantize.class, ElementFunctions::quantized),
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
                return fitting((block, x) -> new Expr.Call(ElementIntrinsics.FLOAT_TO_INT_64, List.of(x.get(0))));
            }
            if (to == DType.UINT64) {
                return fitting((block, x) -> new Expr.Call(ElementIntrinsics.FLOAT_TO_UINT_64, List.of(x.get(0))));
            }
            Intrinsic truncated = to == DType.UINT32 ? ElementIntrinsics.FLOAT_TO_UINT : ElementIntrinsics.FLOAT_TO_INT;
            return fitting((block, x) -> new Expr.Call(truncated, List.of(x.get(0))));
        }
    }

    /**
     * Converts quantized values to floats. Large int8 tensors on cores without a floating-point unit take a table, which is about
     * as large as the library's functions for floats.
     */
    private static ElementFunction dequantized(FusedOperator op, Tables tables, ElementStyle style) {
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

    private static ElementFunction quantized(QnnQuantize root, FusedOperator op, Tables tables, ElementStyle style) {
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

    /** Arithmetic if some gives the table's results for all pairs of bytes, otherwise the table. */
    private static ElementFunction ofPair(PairLookup op, FusedOperator fused, Tables tables) {
        byte[] results = fused.root().constant(2).data().toArray();
        return switch (op.kind()) {
            case SUM ->
                ProvenAdd.of(results, op.lhs(), op.rhs())
                        .map(sum -> ElementFunction.saturating((block, x) -> sum.emit(x))
                                .named("(sum=proven)")
                                .arithmetic())
                        .orElseGet(() -> table(fused, tables));
            case PRODUCT ->
                ProvenProduct.of(results, op)
                        .map(product -> ElementFunction.saturating((block, x) -> product(op, product, x))
                                .named("(product=proven)"))
                        .orElseGet(() -> table(fused, tables));
            case ANY -> table(fused, tables);
        };
    }

    private static Expr product(PairLookup op, ProvenProduct product, List<Expr> values) {
        Expr x = sub(values.get(0), imm(op.lhsZeroPoint()));
        Expr y = sub(values.get(1), imm(op.rhsZeroPoint()));
        return new Expr.Call(
                Intrinsics.RESCALE_FLOOR,
                List.of(
                        mul(x, y),
                        imm(product.multiplier()),
                        imm(product.offset(), DType.INT64),
                        imm(product.shift())));
    }

    private static ElementFunction table(FusedOperator fused, Tables tables) {
        Constant results = fused.root().constant(2);
        Buffer table = tables.add("table", DType.INT8, results.data());
        long middle = Byte.MIN_VALUE * (PairLookup.SIZE + 1L);
        return ElementFunction.fitting((block, x) ->
                        load(table, sub(add(mul(x.get(0), PairLookup.SIZE), x.get(1)), imm(middle))))
                .named("(table)");
    }

    /**
     * The rounded product of two bytes as {@code (x * y * multiplier + offset) >> shift} in 64 bits, where x and y are less their zero
     * points; accepted only if all pairs give the same result.
     *
     * @param multiplier below 2^31
     * @param offset zero point and rounding
     * @param shift bits to the right
     */
    private record ProvenProduct(int multiplier, long offset, int shift) {
        private static final int MOST_SHIFT = 40;
        private static final int REACH = 64;

        /**
         * Constants for a table.
         *
         * @param results by {@code (x + 128) * 256 + y + 128}
         */
        static Optional<ProvenProduct> of(byte[] results, PairLookup op) {
            int shift = Math.min(MOST_SHIFT, 30 - Math.getExponent(op.lhs()));
            if (op.lhs() <= 0 || shift < 1) {
                return Optional.empty();
            }
            long exact = Math.round(Math.scalb(op.lhs(), shift));
            for (int i = 0; i <= 2 * REACH; i++) {
                long multiplier = exact + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);
                if (multiplier > 0 && multiplier <= Integer.MAX_VALUE) {
                    Optional<ProvenProduct> found = of(results, op, (int) multiplier, shift);
                    if (found.isPresent()) {
                        return found;
                    }
                }
            }
            return Optional.empty();
        }

        private static Optional<ProvenProduct> of(byte[] results, PairLookup op, int multiplier, int shift) {
            long least = Long.MIN_VALUE;
            long most = Long.MAX_VALUE;
            for (int pair = 0; pair < results.length && least <= most; pair++) {
                int x = (pair >> 8) + Byte.MIN_VALUE - op.lhsZeroPoint();
                int y = (pair & 255) + Byte.MIN_VALUE - op.rhsZeroPoint();
                long product = (long) x * y * multiplier;
                int result = results[pair];
                least = result > Byte.MIN_VALUE ? Math.max(least, ((long) result << shift) - product) : least;
                most = result < Byte.MAX_VALUE ? Math.min(most, ((result + 1L) << shift) - 1 - product) : most;
            }
            return least <= most && least > -(1L << 60) && most < 1L << 60
                    ? Optional.of(new ProvenProduct(multiplier, Math.floorDiv(least + most, 2), shift))
                    : Optional.empty();
        }
    }
}
