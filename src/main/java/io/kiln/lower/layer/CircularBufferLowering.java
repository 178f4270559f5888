// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.ir.op.call.CircularBuffer;
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

/** Shifts the slots by one, appends the new one, and counts the run. */
public final class CircularBufferLowering {
    private CircularBufferLowering() {}

    public static LoweredOperator lower(FusedOperator op, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        Buffer slots = buffers.argument(CircularBuffer.SLOTS);
        Buffer left = buffers.argument(CircularBuffer.LEFT);
        int cycles = ((CircularBuffer) op.root().op()).cycles();
        long size = op.rootTypes().get(0).shape().elements();
        long kept = slots.elements() - size;
        BlockBuilder body = new BlockBuilder();
        body.loop("i", kept, (block, i) -> block.store(slots, i, load(slots, add(i, size))));
        body.loop("i", size, (block, i) -> block.store(slots, add(i, kept), load(buffers.argument(0), i)));
        Expr rest = body.let("rest", Exprs.sub(load(left, imm(0)), imm(1)));
        Expr isOver = body.let("is_over", Exprs.le(rest, imm(0)));
        body.store(left, imm(0), Exprs.select(isOver, imm(cycles), rest));
        body.store(buffers.output(), imm(0), isOver);
        return Nests.operator(op, buffers, tables, rows, Nests.allRows(op), body.build(), "slots");
    }
}
