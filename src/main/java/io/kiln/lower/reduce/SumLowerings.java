// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.QuantizedReductions.TflProduct;
import io.kiln.ir.op.reduce.QuantizedReductions.TflSum;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Int16Requantize;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.element.ElementIntrinsics;
import io.kiln.lower.reduce.BatchMatmulLowering.MatrixProduct;
import io.kiln.lower.reduce.BatchMatmulLowering.PanelProduct;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Lowerings of operators that combine elements along dimensions: reductions, cumulative sums, products of matrices. */
public final class SumLowerings {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(Reduce.class, (op, reduce, rows, c) -> ReduceLowering.reduce(op, reduce, rows)),
            entry(TflProduct.class, (op, product, rows, c) -> ReduceLowering.product(op, product, rows)),
            entry(TflSum.class, (op, sum, rows, c) -> ReduceLowering.sum(op, sum, rows)),
            entry(ArgReduce.class, (op, arg, rows, c) -> ReduceLowering.index(op, arg, rows)),
            simple(Topk.class, TopkLowering::lower),
            simple(TflCumsum.class, (op, rows) -> new CumsumLowering(op).lower(rows)),
            entry(
                    TflBatchMatmul.class,
                    (op, product, rows, c) -> PanelProduct.of(op, c)
                            .map(panels -> panels.lower(rows))
                            .or(() -> MatrixProduct.of(op, c).map(matrices -> matrices.lower(rows)))
                            .orElseGet(() -> new BatchMatmulLowering(op).lower(rows))));

    private SumLowerings() {}

    /** Sums, means, extremes and their indices: loops over the reduced dimensions inside loops over the others. */
    private static final class ReduceLowering extends RootLowering {
        private final Reduction root;
        private final Epilogue epilogue;
        private final Shape in;
        private final DType dtype;

        /**
         * How elements are combined.
         *
         * @param start initial value
         * @param step combines the value so far with one more element
         * @param result converts the final value
         */
        private record Folding(Expr start, Step step, UnaryOperator<Expr> result) {}

        /** Combines the elements so far with one more. */
        private interface Step {
            Expr of(BlockBuilder block, Expr.Var acc, Expr value);
        }

        /** Stores an element of the output, given the position of its first element in the input. */
        private interface Element {
            void store(BlockBuilder block, List<Expr> source, Expr position);
        }

        /**
         * Prepares the lowering.
         *
         * @param largest the largest magnitude of a result before it is rescaled
         */
        private ReduceLowering(FusedOperator op, Reduction root, long largest) {
            super(op);
            this.root = root;
            this.in = op.rootTypes().get(0).shape();
            this.dtype = op.rootTypes().get(0).dtype();
            this.epilogue = new Epilogue(op, largest, buffers.tables());
        }

        static LoweredOperator reduce(FusedOperator op, Reduce reduce, Rows rows) {
            ReduceLowering lowering = new ReduceLowering(op, reduce, Integer.MAX_VALUE);
            return switch (reduce.kind()) {
                case MAX, MIN -> lowering.folded(rows, lowering.extreme(reduce.kind() == Reduce.Kind.MAX));
                case PROD -> lowering.folded(rows, lowering.product());
                case SUM -> lowering.folded(rows, lowering.sum(acc -> acc));
                case MEAN -> lowering.folded(rows, lowering.sum(lowering::mean));
            };
        }

        static LoweredOperator sum(FusedOperator op, TflSum sum, Rows rows) {
            TensorType data = op.rootTypes().get(0);
            int zeroPoint = (int) op.root().constant(1).integer(0);
            long largest = sum.terms(data.shape()) * TflSum.largestTerm(data.dtype(), zeroPoint);
            Step step = (block, acc, value) -> add(acc, Exprs.sub(value, imm(zeroPoint)));
            return new ReduceLowering(op, sum, largest).folded(rows, new Folding(imm(0), step, acc -> acc));
        }

        static LoweredOperator product(FusedOperator op, TflProduct product, Rows rows) {
            ReduceLowering lowering = new ReduceLowering(op, product, Integer.MAX_VALUE);
            return lowering.lower(
                    rows, (block, source, position) -> lowering.product(block, product, source, position));
        }

        /** The first factor is taken as it is; each product with another one is rescaled, and the last product once more. */
        private void product(BlockBuilder block, TflProduct product, List<Expr> source, Expr position) {
            Expr.Var acc = block.mutable("acc", imm(0));
            Expr.Var first = block.mutable("first", imm(1));
            Step step = (inner, before, value) -> {
                Expr factor = inner.let("factor", Exprs.sub(value, imm(product.inputZeroPoint())));
                Expr wide = Exprs.mul(Exprs.cast(DType.INT64, before), Exprs.cast(DType.INT64, factor));
                Expr rescaled = Int16Requantize.emit(wide, product.step(), Long.MAX_VALUE);
                Expr next = inner.let("next", Exprs.select(Exprs.notEqual(first, imm(0)), factor, rescaled));
                inner.assign(first, imm(0));
                return next;
            };
            nest(block, 0, source, acc, new Folding(imm(0), step, last -> last));
            int zeroPoint = product.outputZeroPoint();
            Expr last = Int16Requantize.emit(acc, product.step(), Long.MAX_VALUE);
            Expr limited = new Expr.Call(
                    Intrinsics.CLAMP, List.of(last, imm(dtype.min() - zeroPoint), imm(dtype.max() - zeroPoint)));
            finish(block, add(limited, imm(zeroPoint)), position);
        }

        static LoweredOperator index(FusedOperator op, ArgReduce arg, Rows rows) {
            ReduceLowering lowering = new ReduceLowering(op, arg, Integer.MAX_VALUE);
            return lowering.lower(
                    rows,
                    (block, source, position) -> lowering.finish(block, lowering.index(block, arg, source), position));
        }

        private LoweredOperator lower(Rows rows, Element element) {
            BlockBuilder body = new BlockBuilder();
            ElementLoops.over(
                    body,
                    op.type().shape(),
                    rows,
                    (block, indices, position) -> element.store(block, source(indices), position));
            int inputRows = Rows.count(in);
            return Nests.operator(buffers, rows, List.of(new RowDependency.All(inputRows)), body.build(), "reduce");
        }

        private List<Expr> source(List<Expr> indices) {
            List<Expr> source = new ArrayList<>();
            int next = 0;
            for (int axis = 0; axis < in.rank(); axis++) {
                boolean gone = root.axes().contains(axis);
                source.add(gone ? imm(0) : indices.get(next));
                next += gone && !root.keepDims() ? 0 : 1;
            }
            return source;
        }

        private void finish(BlockBuilder block, Expr result, Expr position) {
            epilogue.store(block, "_out", result, imm(0), buffers.output(), position);
        }

        private LoweredOperator folded(Rows rows, Folding folding) {
            return lower(rows, (block, source, position) -> {
                Expr.Var acc = block.mutable("acc", folding.start());
                nest(block, 0, source, acc, folding);
                Expr result = folding.result().apply(acc);
                if (dtype == DType.INT64) {
                    block.store(buffers.output(), position, result);
                } else {
                    finish(block, result, position);
                }
            });
        }

        private void nest(BlockBuilder block, int number, List<Expr> source, Expr.Var acc, Folding folding) {
            if (number == root.axes().size()) {
                Expr value = load(buffers.argument(0), ElementLoops.position(in, source));
                block.assign(acc, folding.step().of(block, acc, value));
                return;
            }
            int axis = root.axes().get(number);
            block.loop("r" + axis, in.dim(axis), (inner, r) -> {
                List<Expr> more = new ArrayList<>(source);
                more.set(axis, r);
                nest(inner, number + 1, more, acc, folding);
            });
        }

        private Folding extreme(boolean isMax) {
            Step step = (block, acc, element) -> {
                Expr value = block.let("value", element);
                return isMax ? Exprs.max(value, acc) : Exprs.min(value, acc);
            };
            Expr start = dtype.isFloat()
                    ? imm(isMax ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY)
                    : imm(isMax ? dtype.min() : dtype.max(), dtype == DType.INT64 ? DType.INT64 : DType.INT32);
            return new Folding(start, step, acc -> acc);
        }

        private Folding product() {
            Expr one = dtype.isFloat() ? imm(1.0f) : imm(1, dtype);
            return new Folding(
                    one, (block, acc, value) -> dtype.isFloat() ? mul(acc, value) : wrapping(acc, value), p -> p);
        }

        /** Signed overflow is undefined in C; unsigned products wrap around as integers do. */
        private Expr wrapping(Expr acc, Expr value) {
            DType unsigned = dtype.isLong() ? DType.UINT64 : DType.UINT32;
            return Exprs.cast(dtype, mul(Exprs.cast(unsigned, acc), Exprs.cast(unsigned, value)));
        }

        private Folding sum(UnaryOperator<Expr> result) {
            Expr zero = dtype.isFloat() ? imm(0.0f) : imm(0);
            return new Folding(
                    zero,
                    (block, acc, value) -> dtype == DType.INT32 ? wrappingSum(acc, value) : add(acc, value),
                    result);
        }

        /** Signed overflow is undefined in C; unsigned sums wrap around as int32 does. */
        private static Expr wrappingSum(Expr acc, Expr value) {
            return Exprs.cast(DType.INT32, add(Exprs.cast(DType.UINT32, acc), Exprs.cast(DType.UINT32, value)));
        }

        private Expr mean(Expr sum) {
            int count = root.axes().stream().mapToInt(in::dim).reduce(1, Math::multiplyExact);
            return Exprs.div(sum, dtype.isFloat() ? imm((float) count) : imm(count));
        }

        private Expr index(BlockBuilder block, ArgReduce arg, List<Expr> source) {
            Buffer data = buffers.argument(0);
            Expr.Var best = block.mutable("best", load(data, ElementLoops.position(in, source)));
            Expr.Var index = block.mutable("index", imm(0));
            int size = in.dim(arg.axis());
            block.loop("r", imm(size == 1 ? 0 : 1), imm(size), (inner, r) -> {
                List<Expr> own = new ArrayList<>(source);
                own.set(arg.axis(), r);
                Expr value = inner.let("value", load(data, ElementLoops.position(in, own)));
                Expr better = arg.largest() ? Exprs.gt(value, best) : Exprs.lt(value, best);
                inner.ifThen(better, then -> then.assign(best, value).assign(index, r));
            });
            return index;
        }
    }

    /**
     * Cumulative sums: a loop along the dimension inside loops over the others. If that dimension is the rows, each call
     * starts again.
     */
    private static final class CumsumLowering extends RootLowering {
        private final TflCumsum root;
        private final Epilogue epilogue;
        private final Buffer data;
        private final Shape shape;
        private final DType dtype;

        CumsumLowering(FusedOperator op) {
            super(op);
            this.root = (TflCumsum) op.root().op();
            this.epilogue = new Epilogue(op, Integer.MAX_VALUE, buffers.tables());
            this.data = buffers.argument(0);
            this.shape = op.type().shape();
            this.dtype = data.dtype();
        }

        LoweredOperator lower(Rows rows) {
            Shape lines = shape.with(root.axis(), 1);
            BlockBuilder body = new BlockBuilder();
            Rows others = Rows.count(shape) == Rows.count(lines) ? rows : Rows.whole(lines);
            ElementLoops.over(body, lines, others, (block, indices, position) -> line(block, rows, indices));
            List<RowDependency> dependencies = List.of(new RowDependency.All(Rows.count(shape)));
            return Nests.operator(buffers, rows, dependencies, body.build(), "cumsum");
        }

        private boolean isAlongRows() {
            return root.axis() == 1 && Rows.count(shape) > 1;
        }

        private void line(BlockBuilder block, Rows rows, List<Expr> indices) {
            int size = shape.dim(root.axis());
            Expr.Var sum = block.mutable("sum", start());
            Expr last = isAlongRows() ? root.reverse() ? sub(imm(size), rows.begin()) : rows.end() : imm(size);
            block.loop("k", imm(0), last, (inner, k) -> {
                List<Expr> at = new ArrayList<>(indices);
                at.set(root.axis(), root.reverse() ? inner.let("i", sub(imm(size - 1), k)) : k);
                Expr term = inner.let("term", term(load(data, ElementLoops.position(shape, at))));
                if (!root.exclusive()) {
                    inner.assign(sum, plus(sum, term));
                }
                if (isAlongRows() && !rows.parameters().isEmpty()) {
                    Expr row = at.get(1);
                    Expr asked = root.reverse() ? Exprs.lt(row, rows.end()) : Exprs.ge(row, rows.begin());
                    inner.ifThen(asked, then -> store(then, rows, at, sum));
                } else {
                    store(inner, rows, at, sum);
                }
                if (root.exclusive()) {
                    inner.assign(sum, plus(sum, term));
                }
            });
        }

        /** Initial value of the running sum; integers that may wrap around are unsigned in C. */
        private Expr start() {
            return switch (dtype) {
                case FLOAT32 -> imm(0.0f);
                case INT64 -> imm(0, DType.INT64);
                default -> cast(DType.UINT32, imm(-zeroPoint()));
            };
        }

        private int zeroPoint() {
            return (int) op.root().constant(1).integer(0);
        }

        private Expr term(Expr value) {
            boolean isWide = dtype.isFloat() || dtype == DType.INT64;
            return isWide ? value : cast(DType.UINT32, dtype == DType.INT8 ? sub(value, imm(zeroPoint())) : value);
        }

        private Expr plus(Expr sum, Expr term) {
            return dtype == DType.INT64 ? new Expr.Call(ElementIntrinsics.ADD_64, List.of(sum, term)) : add(sum, term);
        }

        private void store(BlockBuilder block, Rows rows, List<Expr> at, Expr sum) {
            List<Expr> lines = new ArrayList<>(at);
            if (Rows.count(shape) > 1) {
                lines.set(1, rows.outputLine(at.get(1)));
            }
            Expr position = ElementLoops.position(shape, lines);
            switch (dtype) {
                case INT64 -> block.store(buffers.output(), position, sum);
                case FLOAT32 -> epilogue.store(block, "_out", sum, imm(0), buffers.output(), position);
                default -> {
                    Expr scaled = dtype == DType.INT8 ? Exprs.shl(sum, imm(TflCumsum.FRACTION_BITS)) : sum;
                    Expr result = cast(DType.INT32, scaled);
                    epilogue.store(block, "_out", result, imm(0), buffers.output(), position);
                }
            }
        }
    }

    /**
     * Lowers the selection of the k best elements of a vector, in order. Each is found as the best of those behind the one before: no
     * memory, k passes.
     */
    private static final class TopkLowering {
        private final Topk topk;
        private final Buffer data;
        private final Buffer output;
        private final int size;

        private TopkLowering(FusedOperator op, OperatorBuffers buffers) {
            this.topk = (Topk) op.root().op();
            this.data = buffers.argument(0);
            this.output = buffers.output();
            this.size = op.rootTypes().get(0).shape().dim(-1);
        }

        static LoweredOperator lower(FusedOperator op, Rows rows) {
            OperatorBuffers buffers = new OperatorBuffers(op);
            TopkLowering lowering = new TopkLowering(op, buffers);
            Shape in = op.rootTypes().get(0).shape();
            BlockBuilder body = new BlockBuilder();
            ElementLoops.over(
                    body,
                    in.with(-1, 1),
                    rows,
                    (block, at, position) -> lowering.vector(block, ElementLoops.position(in, at), position));
            return Nests.operator(buffers, rows, List.of(new RowDependency.All(Rows.count(in))), body.build(), "topk");
        }

        private void vector(BlockBuilder block, Expr first, Expr vector) {
            Expr.Var last = block.mutable("last", load(data, first));
            Expr.Var lastIndex = block.mutable("last_index", imm(-1));
            block.loop("r", topk.k(), (rank, r) -> {
                Expr.Var best = rank.mutable("best", last);
                Expr.Var index = rank.mutable("index", imm(-1));
                rank.loop("j", size, (inner, j) -> {
                    Expr value = inner.let("value", load(data, add(first, j)));
                    Expr isNext = Exprs.and(isBehind(value, j, last, lastIndex, r), isBetter(value, best, index));
                    inner.ifThen(isNext, then -> then.assign(best, value).assign(index, j));
                });
                rank.ifThen(
                        Exprs.ge(index, imm(0)),
                        found -> found.assign(last, best).assign(lastIndex, index));
                rank.store(output, add(mul(vector, topk.k()), r), Exprs.max(index, imm(0)));
            });
        }

        /** A condition that is true where an element comes after the one that was found last. */
        private Expr isBehind(Expr value, Expr j, Expr last, Expr lastIndex, Expr r) {
            Expr worse = topk.isAscend() ? Exprs.gt(value, last) : Exprs.lt(value, last);
            Expr notBetter = topk.isAscend() ? Exprs.ge(value, last) : Exprs.le(value, last);
            Expr isLater = Exprs.and(notBetter, Exprs.gt(j, lastIndex));
            return Exprs.or(Exprs.equal(r, imm(0, DType.INT32)), Exprs.or(worse, isLater));
        }

        private Expr isBetter(Expr value, Expr best, Expr index) {
            Expr better = topk.isAscend() ? Exprs.lt(value, best) : Exprs.gt(value, best);
            return Exprs.or(Exprs.lt(index, imm(0)), better);
        }
    }
}
