// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.reduce;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import io.kiln.lower.ElementLoops;
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
import java.util.ArrayList;
import java.util.List;

/**
 * Lowers the selection of the k best elements of a vector, in order. Each is found as the best of those behind the one before: no
 * memory, k passes.
 */
final class TopkLowering {
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
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        TopkLowering lowering = new TopkLowering(op, buffers);
        Shape in = op.rootTypes().get(0).shape();
        List<Integer> vectors = new ArrayList<>(in.dims());
        vectors.set(in.rank() - 1, 1);
        BlockBuilder body = new BlockBuilder();
        ElementLoops.over(
                body,
                new Shape(vectors),
                rows,
                (block, at, position) -> lowering.vector(block, ElementLoops.position(in, at), position));
        return Nests.operator(
                op, buffers, tables, rows, List.of(new RowDependency.All(Rows.count(in))), body.build(), "topk");
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
                    Exprs.ge(index, imm(0)), found -> found.assign(last, best).assign(lastIndex, index));
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
