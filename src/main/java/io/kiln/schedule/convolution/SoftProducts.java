// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;

/**
 * Layers of few products for each result by {@link SoftProductKernel}, pixel by pixel: depthwise convolutions, and others group by group. The kernel reads windows
 * where they lie, unless they cross the input's border or rows of a ring.
 */
public final class SoftProducts {
    /** Most taps with {@code optimize=size}: the kernel is unrolled. */
    private static final int MOST_TAPS_FOR_SIZE = 9;

    private final ConvComputation conv;
    private final SoftGroups groups;
    private final SoftProductKernel kernel;
    private final SoftWindow window;
    private final SoftProductWeights weights;
    private final Buffer bias;
    private final Buffer output;
    private final SoftLimits limits;

    private SoftProducts(ConvTask task, SoftCore core) {
        this.conv = task.conv();
        this.groups = SoftGroups.of(conv);
        this.kernel = kernel(conv, core);
        this.window =
                SoftWindow.of(task, readsInPlace(task.rows()) && !conv.window().isPadded());
        this.weights = SoftProductWeights.of(conv, task.tables(), core);
        this.bias = SoftConv.bias(conv, task.tables());
        this.output = task.buffers().output();
        this.limits = SoftLimits.of(conv.op());
    }

    /** Whether the kernel computes a layer: its results' lower limit is none or not negative, so that floats are compared as integers. */
    public static boolean suits(ConvComputation conv, SoftCore core, boolean isForSize) {
        SoftLimits limits = SoftLimits.of(conv.op());
        return conv.taps() <= (isForSize ? MOST_TAPS_FOR_SIZE : SoftProductKernel.mostTaps(core))
                && (limits.low() >= 0 || limits.low() == Integer.MIN_VALUE)
                && limits.high() >= 0;
    }

    private static SoftProductKernel kernel(ConvComputation conv, SoftCore core) {
        Window w = conv.window();
        return new SoftProductKernel(core, w.kernelH(), w.kernelW() * conv.channelsPerGroup());
    }

    /** The loops of a layer. */
    public static LayerLoops of(ConvTask task, SoftCore core) {
        return new SoftProducts(task, core).loops(task.rows());
    }

    /** Whether taps of a row are equally far apart in the input, and rows as well. */
    private boolean readsInPlace(Rows rows) {
        Window w = conv.window();
        boolean areEven =
                conv.channelsPerGroup() == 1 || w.kernelW() == 1 || (groups.count() == 1 && w.dilationW() == 1);
        return areEven && (w.kernelH() == 1 || rows.inputRings().stream().allMatch(ring -> ring == 0));
    }

    private LayerLoops loops(Rows rows) {
        return SoftConv.loops(conv, rows, (block, n, y, x) -> {
            SoftWindow.Place place = window.place(block, n, y, x);
            Expr first = SoftConv.pixel(conv, rows, n, y, x);
            if (!readsInPlace(rows)) {
                inScratch(block, rows, place, first);
            } else if (!conv.window().isPadded()) {
                inPlace(block, rows, place, first);
            } else {
                block.ifThenElse(
                        place.isWhole(),
                        inside -> inPlace(inside, rows, place, first),
                        across -> inScratch(across, rows, place, first));
            }
        });
    }

    private void inPlace(BlockBuilder block, Rows rows, SoftWindow.Place place, Expr first) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        int tap = conv.channelsPerGroup() == 1 ? channels * w.dilationW() : 1;
        int row = channels * conv.input().dim(2) * w.dilationH();
        groups.emit(block, (each, g) -> {
            Buffer in = window.inPlace(each, rows, place.from(groups.input(g)));
            call(each, in, g, List.of(imm(tap), imm(row - kernel.columns() * tap)), first);
        });
    }

    private void inScratch(BlockBuilder block, Rows rows, SoftWindow.Place place, Expr first) {
        int tap = SoftGroups.isDepthwise(conv) ? conv.channels() : 1;
        groups.emit(block, (each, g) -> {
            Buffer in = window.copied(each, rows, place.from(groups.input(g)));
            call(each, in, g, List.of(imm(tap), imm(0)), first);
        });
    }

    /** Calls the kernel for a group. */
    private void call(BlockBuilder block, Buffer in, Expr g, List<Expr> steps, Expr first) {
        List<Expr> scalars = new ArrayList<>(List.of(imm(groups.outputs()), imm(SoftGroups.isDepthwise(conv) ? 1 : 0)));
        scalars.addAll(steps);
        scalars.addAll(limits.arguments());
        Buffer table = groups.part(block, weights.table(), g, conv.taps());
        Buffer start = groups.part(block, weights.start(), g, 2);
        Buffer part = groups.part(block, bias, g, 1);
        Buffer out = block.mutableView("out", output, add(first, groups.output(g)));
        block.call(kernel.kernel(), List.of(in, table, start, part, out), scalars);
    }
}
