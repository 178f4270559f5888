// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflProduct;
import io.kiln.ir.op.reduce.TflSum;
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
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Sums, means, extremes and their indices: loops over the reduced dimensions inside loops over the others. */
final class ReduceLowering {
    private final FusedOperator op;
    private final Reduction root;
    private final Tables tables;
    private final OperatorBuffers buffers;
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
        this.op = op;
        this.root = root;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.in = op.rootTypes().get(0).shape();
        this.dtype = op.rootTypes().get(0).dtype();
        this.epilogue = new Epilogue(op, largest, tables);
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
        return lowering.lower(rows, (block, source, position) -> lowering.product(block, product, source, position));
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
        return Nests.operator(
                op, buffers, tables, rows, List.of(new RowDependency.All(inputRows)), body.build(), "reduce");
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
                zero, (block, acc, value) -> dtype == DType.INT32 ? wrappingSum(acc, value) : add(acc, value), result);
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
        block.loop("r", imm(size == 1 ? 0 : 1), imm(size), 1, (inner, r) -> {
            List<Expr> own = new ArrayList<>(source);
            own.set(arg.axis(), r);
            Expr value = inner.let("value", load(data, ElementLoops.position(in, own)));
            Expr better = arg.largest() ? Exprs.gt(value, best) : Exprs.lt(value, best);
            inner.ifThen(better, then -> then.assign(best, value).assign(index, r));
        });
        return index;
    }
}
