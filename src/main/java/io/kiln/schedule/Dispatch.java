// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.Softmax;
import io.kiln.ir.op.TflSoftmax;
import io.kiln.ir.op.Window;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.ElementwiseLowering;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.PoolLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.SoftmaxLowering;
import io.kiln.lower.Tables;
import io.kiln.target.CpuFeatures;
import io.kiln.target.Target;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.Optional;

/** The one place that chooses a schedule for an operator on a target, and so decides about its scratch. */
public final class Dispatch {
    private final CpuFeatures features;
    private final Optimize optimize;

    public Dispatch(Target target, Optimize optimize) {
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
        if (root instanceof Conv2d || root instanceof QnnConv2d || root instanceof Dense || root instanceof QnnDense) {
            return convolution(op, ConvComputation.of(op), rows);
        }
        if (root instanceof AvgPool2d || root instanceof MaxPool2d) {
            PoolLowering pool = new PoolLowering(op);
            return rows.accumulate() ? pool.accumulate(rows) : pool.lower(rows);
        }
        if (root instanceof Softmax || root instanceof TflSoftmax) {
            return new SoftmaxLowering(op).lower(rows);
        }
        if (MveSum.suits(op, features)) {
            return MveSum.lower(op, rows);
        }
        return new ElementwiseLowering(op).lower(rows);
    }

    private LoweredOperator convolution(FusedOperator op, ConvComputation conv, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        if (MveGemm.suits(conv, features)) {
            MveGemm schedule = MveGemm.of(conv, optimize, tables, buffers);
            return nest(op, conv, rows, tables, buffers, schedule.body(rows), schedule.executedMacs(), schedule.text())
                    .because(MveGemm.REASON);
        }
        if (MveDepthwise.suits(conv, features)) {
            MveDepthwise schedule = MveDepthwise.of(conv, tables, buffers);
            return nest(op, conv, rows, tables, buffers, schedule.body(rows), schedule.executedMacs(), schedule.text())
                    .because(MveDepthwise.REASON);
        }
        Optional<BlockedSums> sums = BlockedSums.of(features, optimize);
        Optional<ScalarRescale> rescale = sums.isPresent() ? ScalarRescale.of(conv) : Optional.empty();
        if (rescale.isPresent() && BlockedDepthwise.suits(conv) && optimize == Optimize.SIZE) {
            SmallDepthwise schedule = new SmallDepthwise(conv, rescale.get(), tables, buffers);
            return nest(
                            op,
                            conv,
                            rows,
                            tables,
                            buffers,
                            schedule.body(rows),
                            conv.output().elements() * conv.taps(),
                            schedule.text())
                    .because("size: one kernel for all depthwise layers");
        }
        if (rescale.isPresent() && BlockedDepthwise.suits(conv)) {
            BlockedDepthwise schedule =
                    new BlockedDepthwise(conv, BlockedDepthwise.pixels(conv, features), rescale, tables, buffers);
            return nest(
                            op,
                            conv,
                            rows,
                            tables,
                            buffers,
                            schedule.body(rows),
                            conv.output().elements() * conv.taps(),
                            schedule.text())
                    .because("no SIMD: pixels side by side share weights");
        }
        if (rescale.isPresent() && BlockedConv.suits(conv, sums.get(), rows)) {
            BlockedConv schedule = new BlockedConv(conv, sums.get(), rescale.get(), tables, buffers);
            return nest(
                            op,
                            conv,
                            rows,
                            tables,
                            buffers,
                            schedule.body(rows),
                            conv.output().elements() * conv.taps(),
                            schedule.text())
                    .inBlocksOf(schedule.rowBlock())
                    .because("no SIMD: blocks of pixels and channels share loads");
        }
        Optional<DspDepthwise.Plan> depthwise = DspDepthwise.plan(conv, features, optimize);
        if (depthwise.isPresent()) {
            DspDepthwise.Plan plan = depthwise.get();
            Stmt body = new DspDepthwise(plan, rows, tables, buffers).body();
            return nest(op, conv, rows, tables, buffers, body, plan.executedMacs(), plan.text())
                    .inBlocksOf(plan.outputRows())
                    .because(DspDepthwise.REASON);
        }
        if (features.hasDsp() && BlockedDepthwise.suitsPlain(conv)) {
            BlockedDepthwise schedule = new BlockedDepthwise(
                    conv, BlockedDepthwise.pixels(conv, features), Optional.empty(), tables, buffers);
            return nest(
                            op,
                            conv,
                            rows,
                            tables,
                            buffers,
                            schedule.body(rows),
                            conv.output().elements() * conv.taps(),
                            schedule.text())
                    .because("no DSP schedule for this shape or its rescaling: pixels side by side share weights");
        }
        if (conv.depthwise()) {
            DepthwiseDirect schedule = new DepthwiseDirect(conv, tables, buffers.argument(0), buffers.output());
            return nest(op, conv, rows, tables, buffers, schedule.body(rows), DepthwiseDirect.text(conv))
                    .because("depthwise: channel by channel, no other schedule fits");
        }
        Optional<DspDense.Plan> dense =
                optimize == Optimize.SIZE ? Optional.empty() : DspDense.plan(conv, features, optimize);
        if (dense.isPresent()) {
            DspDense.Plan plan = dense.get();
            Stmt body = new DspDense(plan, tables, buffers).body(rows);
            return nest(op, conv, rows, tables, buffers, body, plan.executedMacs(), plan.text())
                    .because("two weights a halfword and one high multiply per output, proven exact");
        }
        Optional<DspConv.Plan> dsp =
                optimize == Optimize.SIZE ? Optional.empty() : DspConv.plan(conv, features, optimize);
        if (dsp.isPresent()) {
            DspConv.Plan plan = dsp.get();
            Stmt body = new DspConv(plan, tables, buffers).body(rows);
            return nest(op, conv, rows, tables, buffers, body, plan.executedMacs(), plan.text())
                    .inBlocksOf(DspConv.rowBlock(conv))
                    .because("two weights a halfword and one high multiply per output, proven exact");
        }
        ConvDirect.Knobs knobs = ConvDirect.defaultKnobs(conv, features, optimize);
        ConvDirect schedule = new ConvDirect(conv, knobs, tables, buffers.argument(0), buffers.output());
        return nest(op, conv, rows, tables, buffers, schedule.body(rows), knobs.text())
                .because("no micro-kernel for this core and shape: portable loops");
    }

    private static LoweredOperator nest(
            FusedOperator op,
            ConvComputation conv,
            Rows rows,
            Tables tables,
            OperatorBuffers buffers,
            Stmt body,
            String schedule) {
        return nest(op, conv, rows, tables, buffers, body, conv.macsInside(), schedule);
    }

    private static LoweredOperator nest(
            FusedOperator op,
            ConvComputation conv,
            Rows rows,
            Tables tables,
            OperatorBuffers buffers,
            Stmt body,
            long executedMacs,
            String schedule) {
        return Nests.operator(op, buffers, tables, rows, List.of(dependency(op, conv)), body, executedMacs, schedule);
    }

    private static RowDependency dependency(FusedOperator op, ConvComputation conv) {
        Window w = conv.window();
        boolean byRows = op.type().shape().rank() == 4 && op.type().shape().dim(0) == 1;
        return byRows
                ? new RowDependency.Window(
                        w.strideH(), w.padTop(), w.spanH(), conv.input().dim(1))
                : new RowDependency.All(Rows.count(op.rootTypes().get(0).shape()));
    }
}
