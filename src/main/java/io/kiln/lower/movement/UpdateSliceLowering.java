// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.movement;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.movement.TflDynamicUpdateSlice;
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

/** Lowers the update of a slice: a copy of the data, then a copy of the update into it. */
final class UpdateSliceLowering {
    private final FusedOperator op;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Buffer update;
    private final Shape updateShape;
    private final Shape out;

    UpdateSliceLowering(FusedOperator op) {
        this.op = op;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.update = buffers.argument(1);
        this.updateShape = op.rootTypes().get(1).shape();
        this.out = op.type().shape();
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        int input = op.root().args().get(0) instanceof Arg.Ref ref ? op.inputs().indexOf(ref.id()) : -1;
        long rowElements = Rows.count(out) > 1 ? out.elements() / Rows.count(out) : 0;
        new BoxLoops(
                        Box.whole(out, 0, Box.strides(out)),
                        out,
                        new BoxLoops.Source.Argument(buffers.argument(0), rowElements, input),
                        buffers.output())
                .emit(body, rows);
        List<Expr> start = start(body);
        nest(body, rows, start, new ArrayList<>());
        List<RowDependency> dependencies = new ArrayList<>();
        for (int id : op.inputs()) {
            int count = Rows.count(op.rootTypes()
                    .get(op.root().args().indexOf(new Arg.Ref(id)))
                    .shape());
            boolean isData = op.root().args().indexOf(new Arg.Ref(id)) == 0
                    && op.root().args().lastIndexOf(new Arg.Ref(id)) == 0;
            dependencies.add(isData ? RowDependency.same(count) : new RowDependency.All(count));
        }
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), "copy");
    }

    /** The first index of the update along each dimension, cut so that all of it lies inside. */
    private List<Expr> start(BlockBuilder block) {
        Arg stated = op.root().args().get(TflDynamicUpdateSlice.START);
        List<Expr> start = new ArrayList<>();
        for (int axis = 0; axis < out.rank(); axis++) {
            int most = out.dim(axis) - updateShape.dim(axis);
            if (most == 0) {
                start.add(imm(0));
            } else if (stated instanceof Constant constant) {
                start.add(imm(Math.min(Math.max(constant.integer(axis), 0), most)));
            } else {
                start.add(start(block, axis, most));
            }
        }
        return start;
    }

    private Expr start(BlockBuilder block, int axis, int most) {
        Buffer stated = buffers.argument(TflDynamicUpdateSlice.START);
        Expr index = block.let("stated" + axis, load(stated, imm(axis)));
        Expr below = block.let("below" + axis, Exprs.min(index, imm(most, stated.dtype())));
        Expr inside = Exprs.cast(DType.INT32, Exprs.max(below, imm(0, stated.dtype())));
        return block.let("start" + axis, inside);
    }

    private void nest(BlockBuilder block, Rows rows, List<Expr> start, List<Expr> indices) {
        int axis = indices.size();
        if (axis == out.rank()) {
            List<Expr> lines = new ArrayList<>();
            for (int i = 0; i < axis; i++) {
                Expr index = add(start.get(i), indices.get(i));
                lines.add(i == 1 && Rows.count(out) > 1 ? rows.outputLine(index) : index);
            }
            Expr value = load(update, ElementLoops.position(updateShape, indices));
            block.store(buffers.output(), ElementLoops.position(out, lines), value);
            return;
        }
        Expr begin = imm(0);
        Expr end = imm(updateShape.dim(axis));
        if (axis == 1 && Rows.count(out) > 1 && !rows.parameters().isEmpty()) {
            begin = block.let("first", Exprs.max(block.let("before", Exprs.sub(rows.begin(), start.get(1))), begin));
            end = block.let("last", Exprs.min(block.let("behind", Exprs.sub(rows.end(), start.get(1))), end));
        }
        block.loop("i" + axis, begin, end, 1, (inner, index) -> {
            List<Expr> more = new ArrayList<>(indices);
            more.add(index);
            nest(inner, rows, start, more);
        });
    }
}
