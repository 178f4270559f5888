// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;

import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CircularBuffer;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.call.RingWrite;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxAveragePool;
import io.kiln.ir.op.layer.OnnxResize2d;
import io.kiln.ir.op.layer.OnnxSoftmax;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
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
            simple(RingWrite.class, RingWriteLowering::lower),
            simple(CircularBuffer.class, CircularBufferLowering::lower),
            simple(RefWrite.class, VariableLowering::lower));

    private LayerLowerings() {}

    /** Lowers the assignment of a variable: one copy of its new value. */
    private static final class VariableLowering {
        private VariableLowering() {}

        static LoweredOperator lower(FusedOperator op, Rows rows) {
            Tables tables = new Tables(op.name());
            OperatorBuffers buffers = new OperatorBuffers(op, tables);
            Buffer variable = buffers.argument(0);
            Stmt body = new BlockBuilder()
                    .add(new Stmt.Copy(variable, buffers.argument(1), variable.bytes()))
                    .build();
            List<RowDependency> dependencies = op.inputs().stream()
                    .<RowDependency>map(id -> new RowDependency.All(
                            Rows.count(op.rootTypes().get(0).shape())))
                    .toList();
            return Nests.operator(op, buffers, tables, rows, dependencies, body, "copy");
        }
    }
}
