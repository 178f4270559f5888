// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveEpilogue;
import io.kiln.schedule.convolution.MveRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Depthwise convolutions with strides of 1 on MVE, by {@link MveTileDepthwise}. */
public final class MveTileSchedule implements Schedule<MveRequantize> {
    /** Larger windows would take too much code. */
    private static final int MOST_VECTORS = 8;

    @Override
    public String name() {
        return "mve_depthwise_tile";
    }

    @Override
    public Optional<MveRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasMve() && workload.isPlainInt8() && conv.depthwise() && suits(conv)
                ? MveRequantize.of(conv).filter(MveTileSchedule::suits)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return w.strideH() == 1
                && w.strideW() == 1
                && w.dilationH() == 1
                && w.dilationW() == 1
                && w.kernelH() > 1
                && w.kernelW() > 1
                && (MveTileDepthwise.every(conv) <= 2 || MveTileDepthwise.every(conv) == 4)
                && conv.output().dim(1) >= MveTileDepthwise.TILE
                && conv.output().dim(2) >= MveTileDepthwise.TILE
                && MveTileDepthwise.vectors(conv) <= MOST_VECTORS;
    }

    /** Constants of a channel are scalars here, with which ONNX Runtime's rounding has no instructions. */
    private static boolean suits(MveRequantize rescale) {
        int zero = rescale.requantization().outputZeroPoint();
        return MveEpilogue.of(rescale).floor().isEmpty() && rescale.low() <= zero && rescale.high() >= zero;
    }

    @Override
    public Space space(Workload workload, MveRequantize rescale) {
        return Space.of(name());
    }

    /** Where the program computes row by row, a single row has the loops of {@link MveDepthwise}. */
    @Override
    public LayerLoops lower(ConvTask task, MveRequantize rescale, Configuration configuration) {
        Rows rows = task.rows();
        return rows.parameters().isEmpty() || rows.block() > 1
                ? new MveTileDepthwise(task, rescale).loops(rows)
                : new MveDepthwise(task, rescale, MveDepthwiseSchedule.keeps(task.conv())).loops(rows);
    }

    /** Unless rows are so narrow that starting one for each channel costs more than it saves, or size is optimized: weights and code take more flash. */
    public Optional<Choice<MveRequantize>> choose(Workload workload) {
        return applies(workload)
                .filter(rescale -> !isNarrow(workload.conv()))
                .filter(rescale -> !workload.isForSize())
                .map(rescale -> new Choice<>(
                        this,
                        rescale,
                        Configuration.of(name()),
                        "two by two results of a channel from one patch (MVE), exact in 32 bits"));
    }

    /** Counted: a channel of two rows costs 30 cycles and 17 for each two columns; one pixel of a channel costs 7 otherwise. */
    private static boolean isNarrow(ConvComputation conv) {
        return conv.output().dim(2) < 4 && MveTileDepthwise.vectors(conv) == 1;
    }
}
