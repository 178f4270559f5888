// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.type.Shape;
import io.kiln.lower.ElementLoops;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.element.ElementIntrinsics;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;

/**
 * Cumulative sums: a loop along the dimension inside loops over the others. If that dimension is the rows, each call
 * starts again.
 */
final class CumsumLowering {
    private final FusedOperator op;
    private final TflCumsum root;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Epilogue epilogue;
    private final Buffer data;
    private final Shape shape;
    private final DType dtype;

    CumsumLowering(FusedOperator op) {
        this.op = op;
        this.root = (TflCumsum) op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.epilogue = new Epilogue(op, Integer.MAX_VALUE, tables);
        this.data = buffers.argument(0);
        this.shape = op.type().shape();
        this.dtype = data.dtype();
    }

    LoweredOperator lower(Rows rows) {
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.set(root.axis(), 1);
        Shape lines = new Shape(dims);
        BlockBuilder body = new BlockBuilder();
        Rows others = Rows.count(shape) == Rows.count(lines) ? rows : Rows.whole(lines);
        ElementLoops.over(body, lines, others, (block, indices, position) -> line(block, rows, indices));
        List<RowDependency> dependencies = List.of(new RowDependency.All(Rows.count(shape)));
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "cumsum");
    }

    private boolean isAlongRows() {
        return root.axis() == 1 && Rows.count(shape) > 1;
    }

    private void line(BlockBuilder block, Rows rows, List<Expr> indices) {
        int size = shape.dim(root.axis());
        Expr.Var sum = block.mutable("sum", start());
        Expr last = isAlongRows() ? root.reverse() ? sub(imm(size), rows.begin()) : rows.end() : imm(size);
        block.loop("k", imm(0), last, 1, (inner, k) -> {
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
