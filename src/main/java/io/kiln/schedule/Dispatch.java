// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.ir.op.ArgReduce;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.CircularBuffer;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Conv2dTranspose;
import io.kiln.ir.op.CustomCall;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.DetectionPostprocess;
import io.kiln.ir.op.FilterBank;
import io.kiln.ir.op.If;
import io.kiln.ir.op.Lstm;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Movement;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnConv2dTranspose;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.Reduce;
import io.kiln.ir.op.RefWrite;
import io.kiln.ir.op.Resize2d;
import io.kiln.ir.op.Signal;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.Svdf;
import io.kiln.ir.op.Take;
import io.kiln.ir.op.TflBatchMatmul;
import io.kiln.ir.op.TflCumsum;
import io.kiln.ir.op.TflDynamicUpdateSlice;
import io.kiln.ir.op.TflNormalize;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.op.TflSum;
import io.kiln.ir.op.While;
import io.kiln.ir.op.Window;
import io.kiln.lower.BatchMatmulLowering;
import io.kiln.lower.Callee;
import io.kiln.lower.CircularBufferLowering;
import io.kiln.lower.ComputedWeightsLowering;
import io.kiln.lower.ControlFlowLowering;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.CumsumLowering;
import io.kiln.lower.CustomCallLowering;
import io.kiln.lower.DetectionLowering;
import io.kiln.lower.ElementwiseLowering;
import io.kiln.lower.FilterBankLowering;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.LstmLowering;
import io.kiln.lower.MovementLowering;
import io.kiln.lower.Nests;
import io.kiln.lower.NormalizeLowering;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.PoolLowering;
import io.kiln.lower.ReduceLowering;
import io.kiln.lower.ResizeLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.SignalLowering;
import io.kiln.lower.SoftmaxLowering;
import io.kiln.lower.SvdfLowering;
import io.kiln.lower.Tables;
import io.kiln.lower.TakeLowering;
import io.kiln.lower.UpdateSliceLowering;
import io.kiln.lower.VariableLowering;
import io.kiln.target.CpuFeatures;
import io.kiln.target.Target;
import java.util.List;

/** The one place that chooses a schedule for an operator on a target, and so decides about its scratch. */
public final class Dispatch {
    /** Schedules of int8 convolutions and dense layers: the first one that suits is taken, and the last two suit any. */
    private static final List<ConvSchedule.Candidate> CONVOLUTIONS = List.of(
            MveGemm::schedule,
            MveDepthwise::schedule,
            SmallDepthwise::schedule,
            BlockedDepthwise::schedule,
            BlockedConv::schedule,
            DspColumnDepthwise::schedule,
            DspDepthwise::schedule,
            BlockedDepthwise::schedulePlain,
            DspDense::schedule,
            DspWinograd::schedule,
            DspConv::schedule,
            DepthwiseDirect::schedule,
            ConvDirect::schedule);

    /** Likewise of data other than int8, and of transposed convolutions. */
    private static final List<ConvSchedule.Candidate> OTHERS =
            List.of(DotConv::schedule, MveFloatDepthwise::schedule, DepthwiseDirect::schedule, ConvDirect::schedule);

    private final CpuFeatures features;
    private final Optimize optimize;
    private final List<Callee> callees;

    public Dispatch(Target target, Optimize optimize) {
        this(target, optimize, List.of());
    }

    /**
     * For a function whose operators call others.
     *
     * @param callees these, by index
     */
    public Dispatch(Target target, Optimize optimize, List<Callee> callees) {
        this.callees = List.copyOf(callees);
        this.features = target.features();
        this.optimize = optimize;
    }

    /** Lowers a fused operator to loops over all rows of its output. */
    public LoweredOperator lower(FusedOperator op) {
        return lower(op, Rows.whole(op.type().shape()));
    }

    /** Lowers a fused operator to loops over a range of rows. */
    public LoweredOperator lower(FusedOperator op, Rows rows) {
        Op root = op.root().op();
        if (isLayer(root) && ComputedWeightsLowering.suits(op)) {
            return new ComputedWeightsLowering(op).lower(rows);
        }
        if (isLayer(root)) {
            return convolution(op, ConvComputation.of(op), rows);
        }
        if (root instanceof AvgPool2d || root instanceof MaxPool2d) {
            PoolLowering pool = new PoolLowering(op);
            return rows.accumulate() ? pool.accumulate(rows) : pool.lower(rows);
        }
        if (root instanceof Softmax || root instanceof TflSoftmax) {
            return new SoftmaxLowering(op).lower(rows);
        }
        if (root instanceof TflNormalize) {
            return new NormalizeLowering(op).lower(rows);
        }
        if (root instanceof If || root instanceof While) {
            return new ControlFlowLowering(op, callees).lower(rows);
        }
        if (root instanceof Svdf) {
            return new SvdfLowering(op, ByteDots.of(features, optimize)).lower(rows);
        }
        if (root instanceof Signal) {
            return new SignalLowering(op).lower(rows);
        }
        if (root instanceof CustomCall) {
            return new CustomCallLowering(op).lower(rows);
        }
        if (root instanceof DetectionPostprocess) {
            return new DetectionLowering(op).lower(rows);
        }
        if (root instanceof CircularBuffer) {
            return CircularBufferLowering.lower(op, rows);
        }
        if (root instanceof Lstm) {
            return new LstmLowering(op, ByteDots.of(features, optimize)).lower(rows);
        }
        if (root instanceof FilterBank) {
            return new FilterBankLowering(op).lower(rows);
        }
        if (root instanceof RefWrite) {
            return VariableLowering.lower(op, rows);
        }
        if (root instanceof Reduce || root instanceof TflSum || root instanceof ArgReduce) {
            return new ReduceLowering(op).lower(rows);
        }
        if (root instanceof TflCumsum) {
            return new CumsumLowering(op).lower(rows);
        }
        if (root instanceof TflDynamicUpdateSlice) {
            return new UpdateSliceLowering(op).lower(rows);
        }
        if (root instanceof TflBatchMatmul) {
            return new BatchMatmulLowering(op).lower(rows);
        }
        if (root instanceof Resize2d) {
            return new ResizeLowering(op).lower(rows);
        }
        if (root instanceof Take) {
            return TakeLowering.lower(op, rows);
        }
        if (root instanceof Movement) {
            return new MovementLowering(op).lower(rows);
        }
        if (MveSum.suits(op, features)) {
            return MveSum.lower(op, rows);
        }
        return new ElementwiseLowering(op).lower(rows);
    }

    private static boolean isLayer(Op root) {
        return root instanceof Conv2d
                || root instanceof QnnConv2d
                || root instanceof Conv2dTranspose
                || root instanceof QnnConv2dTranspose
                || root instanceof Dense
                || root instanceof QnnDense;
    }

    private LoweredOperator convolution(FusedOperator op, ConvComputation conv, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        ConvTask task = new ConvTask(conv, rows, features, optimize, tables, buffers);
        boolean isPlainInt8 = conv.dataType() == DType.INT8
                && !conv.isTransposed()
                && op.requantization().isPresent();
        ConvSchedule schedule = (isPlainInt8 ? CONVOLUTIONS : OTHERS)
                .stream()
                        .flatMap(candidate -> candidate.tryOn(task).stream())
                        .findFirst()
                        .orElseThrow();
        return Nests.operator(
                        op,
                        buffers,
                        tables,
                        rows,
                        List.of(dependency(op, conv)),
                        schedule.body(),
                        schedule.executedMacs(),
                        schedule.text())
                .inBlocksOf(schedule.rowBlock())
                .because(schedule.reason());
    }

    private static RowDependency dependency(FusedOperator op, ConvComputation conv) {
        Window w = conv.window();
        boolean byRows = op.type().shape().rank() == 4 && op.type().shape().dim(0) == 1;
        return byRows && !conv.isTransposed()
                ? new RowDependency.Window(
                        w.strideH(), w.padTop(), w.spanH(), conv.input().dim(1))
                : new RowDependency.All(Rows.count(op.rootTypes().get(0).shape()));
    }
}
