// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.movement.ScatterNd;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
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
import java.util.Collections;
import java.util.List;

/** Lowers updates by index: a copy of the data, then the updates in their order. */
final class ScatterLowering {
    private static final int UPDATES = 2;

    private ScatterLowering() {}

    static LoweredOperator lower(FusedOperator op, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        ScatterNd scatter = (ScatterNd) op.root().op();
        Shape out = op.type().shape();
        Shape updates = op.rootTypes().get(UPDATES).shape();
        BlockBuilder body = new BlockBuilder();
        BoxLoops.Source data = new BoxLoops.Source.Argument(buffers.argument(0), 0, -1);
        new BoxLoops(Box.whole(out, 0, Box.strides(out)), out, data, buffers.output()).emit(body, rows);
        Buffer indices = buffers.argument(1);
        Buffer from = buffers.argument(UPDATES);
        Buffer to = buffers.output();
        int width = out.dim(1);
        body.loop("u", updates.dim(0), (update, u) -> {
            Expr row = TakeLowering.index(update, load(indices, u), out.dim(0));
            update.loop("i", width, (inner, i) -> {
                Expr position = inner.let("at", add(mul(row, width), i));
                Expr value = inner.let("value", load(from, add(mul(u, width), i)));
                inner.store(to, position, combined(inner, scatter.mode(), load(to, position), value));
            });
        });
        RowDependency all = new RowDependency.All(1);
        List<RowDependency> dependencies = Collections.nCopies(op.inputs().size(), all);
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "scatter");
    }

    private static Expr combined(BlockBuilder block, ScatterNd.Mode mode, Expr before, Expr value) {
        return switch (mode) {
            case UPDATE -> value;
            case ADD -> wrapping(value, before, Exprs::add);
            case MUL -> wrapping(value, before, Exprs::mul);
            case MIN -> Exprs.min(value, block.let("before", before));
            case MAX -> Exprs.max(value, block.let("before", before));
        };
    }

    /** A function of two expressions. */
    private interface Arithmetic {
        Expr of(Expr a, Expr b);
    }

    /** Signed overflow is undefined in C; unsigned arithmetic wraps around as integers do. */
    private static Expr wrapping(Expr a, Expr b, Arithmetic arithmetic) {
        if (a.dtype().isFloat()) {
            return arithmetic.of(b, a);
        }
        boolean isLong = a.dtype().isLong();
        DType unsigned = isLong ? DType.UINT64 : DType.UINT32;
        Expr result = arithmetic.of(Exprs.cast(unsigned, b), Exprs.cast(unsigned, a));
        return Exprs.cast(isLong ? DType.INT64 : DType.INT32, result);
    }
}
