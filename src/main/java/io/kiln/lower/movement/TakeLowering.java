// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.Arg;
import io.kiln.ir.op.movement.Take;
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

/** Lowers the selection of slices by index, element by element. */
final class TakeLowering {
    private TakeLowering() {}

    static LoweredOperator lower(FusedOperator op, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        Take take = (Take) op.root().op();
        Shape data = op.rootTypes().get(0).shape();
        Shape indices = op.rootTypes().get(1).shape();
        Buffer from = buffers.argument(0);
        Buffer chosen = buffers.argument(1);
        BlockBuilder body = new BlockBuilder();
        ElementLoops.over(body, op.type().shape(), rows, (block, at, position) -> {
            Expr index = index(block, load(chosen, indexPosition(take, indices, at)), data.dim(take.axis()));
            Expr source = sourcePosition(take, data, indices, at, index);
            block.store(buffers.output(), position, load(from, source));
        });
        List<RowDependency> dependencies = new ArrayList<>();
        for (int id : op.inputs()) {
            int argument = op.root().args().indexOf(new Arg.Ref(id));
            dependencies.add(new RowDependency.All(
                    Rows.count(op.rootTypes().get(argument).shape())));
        }
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "take");
    }

    /** An index clamped to the valid range. */
    static Expr index(BlockBuilder block, Expr stated, int size) {
        Expr index = block.let("index", stated);
        Expr below = block.let("below", Exprs.min(index, imm(size - 1)));
        return block.let("inside", Exprs.max(below, imm(0)));
    }

    private static Expr indexPosition(Take take, Shape indices, List<Expr> at) {
        List<Expr> own = new ArrayList<>(at.subList(0, take.batchDims()));
        int added = indices.rank() - take.batchDims();
        own.addAll(at.subList(take.axis(), take.axis() + added));
        return ElementLoops.position(indices, own);
    }

    private static Expr sourcePosition(Take take, Shape data, Shape indices, List<Expr> at, Expr index) {
        List<Expr> own = new ArrayList<>(at.subList(0, take.axis()));
        own.add(index);
        own.addAll(at.subList(take.axis() + indices.rank() - take.batchDims(), at.size()));
        Expr position = imm(0);
        for (int i = 0; i < data.rank(); i++) {
            position = add(mul(position, data.dim(i)), own.get(i));
        }
        return position;
    }
}
