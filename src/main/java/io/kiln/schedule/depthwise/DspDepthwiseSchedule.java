// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.schedule.depthwise.DspDepthwiseShape.BLOCK;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.depthwise.DspDepthwiseKernel.Limits;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions on Cortex-M with the DSP extension, by {@link DspDepthwise}. */
public record DspDepthwiseSchedule(String name) implements Schedule<DspDepthwiseEpilogue> {
    /** Largest number of words of weights in registers. */
    private static final int MOST_WEIGHTS = 6;
    /** Largest number of input rows with registers for their addresses. */
    private static final int MOST_INPUT_ROWS = 5;
    /** What is unrolled where code may have any size. */
    private static final Limits NONE = Limits.NONE;
    /** Cycles of a loop's end. */
    private static final int END = 9;
    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    @Override
    public Optional<DspDepthwiseEpilogue> applies(Workload workload) {
        if (!workload.features().hasDsp() || !workload.isPlainInt8() || !suits(workload.conv())) {
            return Optional.empty();
        }
        return DspDepthwiseEpilogue.of(workload.conv());
    }

    private static boolean suits(ConvComputation conv) {
        if (!conv.depthwise() || !isWideEnough(conv)) {
            return false;
        }
        DspDepthwiseShape shape = DspDepthwiseShape.of(conv);
        return conv.channels() <= REACH
                && shape.inputColumns() * shape.channels() >= BLOCK
                && shape.inputRows(1) <= MOST_INPUT_ROWS
                && shape.weights() <= MOST_WEIGHTS
                && (shape.padLeft() + shape.spanW()) * shape.columnBytes() <= DspDepthwiseKernel.MOST_COLUMN_BYTES;
    }

    private static boolean isWideEnough(ConvComputation conv) {
        int channels = conv.input().dim(3);
        return channels >= DspDepthwiseShape.LEAST_CHANNELS && conv.channels() % channels == 0;
    }

    @Override
    public Space space(Workload workload, DspDepthwiseEpilogue rescale) {
        Knob rows = mostRows(workload.conv()) == 2 ? Knob.of("rows", 1, 2) : Knob.of("rows", 1);
        List<Knob> knobs = new ArrayList<>(List.of(rows, Knob.of("channel_block", BLOCK)));
        if (workload.codeBytes().isPresent()) {
            knobs.add(Knob.unusual(
                    "unroll", IntStream.rangeClosed(1, NONE.outputs()).toArray()));
            knobs.add(Knob.unusual(
                    "columns", IntStream.rangeClosed(1, NONE.columns()).toArray()));
            knobs.add(Knob.flag(Space.SHORT, false, true));
        }
        knobs.add(Knob.flag(DspConvSchedule.PAIRED, false, true));
        return new Space(
                name(),
                knobs,
                each -> each.isOn(Space.SHORT) == each.value("unroll").isPresent()
                        && each.isOn(Space.SHORT) == each.value("columns").isPresent());
    }

    /** Output rows that can be computed together. */
    private static int mostRows(ConvComputation conv) {
        DspDepthwiseShape shape = DspDepthwiseShape.of(conv);
        int below = (shape.width() + 1) * shape.outputs();
        boolean areNeighbours = conv.window().dilationH() == 1 || shape.kernelH() == 1;
        return areNeighbours
                        && shape.inputRows(2) <= MOST_INPUT_ROWS
                        && below <= REACH
                        && conv.output().dim(1) > 1
                ? 2
                : 1;
    }

    /** Of a block of channels and a pair of rows; one row at a time takes longer in any case. */
    @Override
    public long loopEnds(Workload workload, DspDepthwiseEpilogue rescale, Configuration configuration) {
        int rows = configuration.number("rows");
        DspDepthwiseShape shape = DspDepthwiseShape.of(workload.conv());
        DspDepthwiseKernel kernel = new DspDepthwiseKernel(shape, rows, limits(configuration), false, rescale);
        int outputs = turns(shape.width(), kernel.unroll());
        int columns = turns(shape.inputColumns(), kernel.unrolledColumns());
        return END * (BLOCK * (long) outputs + columns) + (rows == 1 ? Integer.MAX_VALUE : 0);
    }

    private static int turns(int count, int unroll) {
        return count <= unroll ? 0 : count / unroll;
    }

    private static Limits limits(Configuration configuration) {
        return new Limits(
                configuration.number("unroll", NONE.outputs()),
                configuration.number("columns", NONE.columns()),
                configuration.isOn(Space.SHORT));
    }

    @Override
    public LayerLoops lower(ConvTask task, DspDepthwiseEpilogue rescale, Configuration configuration) {
        boolean isPaired = configuration.isOn(DspConvSchedule.PAIRED);
        Limits limits = limits(configuration);
        return new DspDepthwise(task, rescale, configuration.number("rows"), limits, isPaired).loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspDepthwiseEpilogue>> choose(Workload workload) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            Configuration configuration = Configuration.of(name())
                    .with("rows", mostRows(workload.conv()))
                    .with("channel_block", BLOCK);
            String reason = "depthwise on a core with SIMD on halves, "
                    + rescale.rescale().inWords();
            return new Choice<>(this, rescale, configuration, reason);
        });
    }
}
