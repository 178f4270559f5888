// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.op.call.RingWrite;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;

/** Stores new slots over the oldest ones, and moves the place on. */
final class RingWriteLowering {
    private RingWriteLowering() {}

    static LoweredOperator lower(FusedOperator op, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        Buffer data = buffers.argument(0);
        Buffer slots = buffers.argument(RingWrite.SLOTS);
        Buffer place = buffers.argument(RingWrite.PLACE);
        int axis = ((RingWrite) op.root().op()).axis();
        Shape shape = op.rootTypes().get(RingWrite.SLOTS).shape();
        Shape part = op.rootTypes().get(0).shape();
        long slot = shape.dims().subList(axis + 1, shape.rank()).stream()
                .mapToLong(dim -> dim)
                .reduce(1, (a, b) -> a * b);
        long run = part.dim(axis) * slot;
        long ring = shape.dim(axis) * slot;
        BlockBuilder body = new BlockBuilder();
        // A graph of a stranger may begin anywhere.
        Expr last = imm(shape.dim(axis) - part.dim(axis));
        Expr oldest = body.let("oldest", Exprs.max(imm(0), Exprs.min(load(place, imm(0)), last)));
        Expr begin = body.let("begin", mul(oldest, slot));
        body.loop("o", part.elements() / run, (outer, o) -> {
            Expr from = outer.let("from", mul(o, run));
            Expr to = outer.let("to", add(mul(o, ring), begin));
            outer.loop("i", run, (block, i) -> block.store(slots, add(to, i), load(data, add(from, i))));
        });
        Expr next = body.let("next", add(oldest, part.dim(axis)));
        body.store(place, imm(0), Exprs.select(Exprs.le(imm(shape.dim(axis)), next), imm(0), next));
        return Nests.operator(op, buffers, tables, rows, Nests.allRows(op), body.build(), "slots");
    }
}
