// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.Variables.CircularBuffer;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.call.Variables.RingWrite;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ResizeLowering.OnnxResizeLowering;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lowerings of stateful layers, and of layers other than convolutions and fully connected ones. */
public final class LayerLowerings {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(
                    AvgPool2d.class,
                    (op, pool, rows, c) -> new PoolLowering(op, pool.window(), Optional.of(pool.rounding())).of(rows)),
            entry(
                    MaxPool2d.class,
                    (op, pool, rows, c) -> new PoolLowering(op, pool.window(), Optional.empty()).of(rows)),
            entry(Softmax.class, (op, softmax, rows, c) -> new SoftmaxLowering(op).lower(softmax, rows)),
            entry(TflSoftmax.class, (op, softmax, rows, c) -> new SoftmaxLowering(op).lower(softmax, rows)),
            simple(OnnxSoftmax.class, (op, rows) -> new OnnxSoftmaxLowering(op).lower(rows)),
            simple(OnnxAveragePool.class, (op, rows) -> new OnnxPoolLowering(op).lower(rows)),
            simple(OnnxResize2d.class, (op, rows) -> new OnnxResizeLowering(op).lower(rows)),
            simple(TflNormalize.class, (op, rows) -> new NormalizeLowering(op).lower(rows)),
            simple(Resize2d.class, (op, rows) -> new ResizeLowering(op).lower(rows)),
            simple(DetectionPostprocess.class, (op, rows) -> new DetectionLowering(op).lower(rows)),
            entry(Svdf.class, (op, svdf, rows, c) -> new SvdfLowering(op, c.sums()).lower(rows)),
            entry(TreeEnsemble.class, (op, trees, rows, c) -> TreeLowering.lower(op, rows, c.elements())),
            entry(Lstm.class, (op, lstm, rows, c) -> new LstmLowering(op, c.sums()).lower(rows)),
            entry(BlockDense.class, (op, dense, rows, c) -> new BlockDenseLowering(op, c.elements()).lower(rows)),
            simple(RingWrite.class, LayerLowerings::ringWrite),
            simple(CircularBuffer.class, LayerLowerings::lower),
            simple(RefWrite.class, VariableLowering::lower));

    private LayerLowerings() {}

    /** Lowers the assignment of a variable: one copy of its new value. */
    private static final class VariableLowering {
        private VariableLowering() {}

        static LoweredOperator lower(FusedOperator op, Rows rows) {
            OperatorBuffers buffers = new OperatorBuffers(op);
            Buffer variable = buffers.argument(0);
            Stmt body = new BlockBuilder()
                    .add(new Stmt.Copy(variable, buffers.argument(1), variable.bytes()))
                    .build();
            List<RowDependency> dependencies = op.inputs().stream()
                    .<RowDependency>map(id -> new RowDependency.All(
                            Rows.count(op.rootTypes().get(0).shape())))
                    .toList();
            return Nests.operator(buffers, rows, dependencies, body, "copy");
        }
    }

    private static LoweredOperator lower(FusedOperator op, Rows rows) {
        OperatorBuffers buffers = new OperatorBuffers(op);
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
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "slots");
    }

    /** Stores new slots over the oldest ones, and moves the place on. */
    private static LoweredOperator ringWrite(FusedOperator op, Rows rows) {
        OperatorBuffers buffers = new OperatorBuffers(op);
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
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "slots");
    }
}
