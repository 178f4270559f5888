// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.base.DType;
import io.kiln.ir.op.ArgReduce;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.TflSum;
import io.kiln.ir.type.Shape;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;

/** Sums, means, extremes and where these are: loops over the reduced dimensions inside loops over the others. */
public final class ReduceLowering {
    private final FusedOperator op;
    private final Op root;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Epilogue epilogue;
    private final Shape in;
    private final Shape out;
    private final DType dtype;
    private final List<Integer> axes;
    private final boolean keepDims;

    public ReduceLowering(FusedOperator op) {
        this.op = op;
        this.root = op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
        this.dtype = op.rootTypes().get(0).dtype();
        if (root instanceof Reduce reduce) {
            this.axes = reduce.axes();
            this.keepDims = reduce.keepDims();
        } else if (root instanceof TflSum sum) {
            this.axes = sum.axes();
            this.keepDims = sum.keepDims();
        } else {
            this.axes = List.of(((ArgReduce) root).axis());
            this.keepDims = false;
        }
        this.epilogue = new Epilogue(op, largest(), tables);
    }

    /** The largest magnitude of a result before it is rescaled. */
    private long largest() {
        return root instanceof TflSum sum ? sum.terms(in) * TflSum.largestTerm(dtype, zeroPoint()) : Integer.MAX_VALUE;
    }

    private int zeroPoint() {
        return (int) op.root().constant(1).integer(0);
    }

    public LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        ElementLoops.over(body, out, rows, this::element);
        int inputRows = Rows.count(in);
        return Nests.operator(
                op, buffers, tables, rows, List.of(new RowDependency.All(inputRows)), body.build(), "reduce");
    }

    private void element(BlockBuilder block, List<Expr> indices, Expr position) {
        List<Expr> source = new ArrayList<>();
        int next = 0;
        for (int axis = 0; axis < in.rank(); axis++) {
            boolean gone = axes.contains(axis);
            source.add(gone ? imm(0) : indices.get(next));
            next += gone && !keepDims ? 0 : 1;
        }
        if (root instanceof ArgReduce arg) {
            epilogue.store(block, "_out", index(block, arg, source), imm(0), buffers.output(), position);
            return;
        }
        Expr.Var acc = block.mutable("acc", start());
        nest(block, 0, source, acc);
        Expr result = result(acc);
        if (dtype == DType.INT64) {
            block.store(buffers.output(), position, result);
        } else {
            epilogue.store(block, "_out", result, imm(0), buffers.output(), position);
        }
    }

    private Expr start() {
        if (isExtreme()) {
            boolean isMax = ((Reduce) root).kind() == Reduce.Kind.MAX;
            if (dtype.isFloat()) {
                return imm(isMax ? -Float.MAX_VALUE : Float.MAX_VALUE);
            }
            return imm(isMax ? dtype.min() : dtype.max(), dtype == DType.INT64 ? DType.INT64 : DType.INT32);
        }
        return dtype.isFloat() ? imm(0.0f) : imm(0);
    }

    private boolean isExtreme() {
        return root instanceof Reduce reduce && (reduce.kind() == Reduce.Kind.MAX || reduce.kind() == Reduce.Kind.MIN);
    }

    private void nest(BlockBuilder block, int number, List<Expr> source, Expr.Var acc) {
        if (number == axes.size()) {
            Expr value = load(buffers.argument(0), ElementLoops.position(in, source));
            block.assign(acc, isExtreme() ? extreme(acc, block.let("value", value)) : sum(acc, value));
            return;
        }
        int axis = axes.get(number);
        block.loop("r" + axis, in.dim(axis), (inner, r) -> {
            List<Expr> more = new ArrayList<>(source);
            more.set(axis, r);
            nest(inner, number + 1, more, acc);
        });
    }

    /** Signed overflow is undefined in C; unsigned sums wrap around as int32 does. */
    private Expr sum(Expr.Var acc, Expr value) {
        return root instanceof Reduce && dtype == DType.INT32
                ? Exprs.cast(DType.INT32, add(Exprs.cast(DType.UINT32, acc), Exprs.cast(DType.UINT32, value)))
                : add(acc, term(value));
    }

    private Expr extreme(Expr.Var acc, Expr value) {
        return ((Reduce) root).kind() == Reduce.Kind.MAX ? Exprs.max(value, acc) : Exprs.min(value, acc);
    }

    private Expr term(Expr value) {
        return root instanceof TflSum ? Exprs.sub(value, imm(zeroPoint())) : value;
    }

    private Expr result(Expr.Var acc) {
        boolean isMean = root instanceof Reduce reduce && reduce.kind() == Reduce.Kind.MEAN;
        int count = axes.stream().mapToInt(in::dim).reduce(1, Math::multiplyExact);
        return isMean ? Exprs.div(acc, dtype.isFloat() ? imm((float) count) : imm(count)) : acc;
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
