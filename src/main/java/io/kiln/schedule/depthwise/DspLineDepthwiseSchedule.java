// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.schedule.convolution.DspPaddedRows;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.depthwise.DspLineKernel.Line;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions of narrow rows and with large windows on Cortex-M with the DSP extension, by {@link DspLineDepthwise}. */
public final class DspLineDepthwiseSchedule implements Schedule<DspRequantize> {
    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    /** Most outputs whose sums fit the registers beside two words of weights. */
    private static final int MOST_OUTPUTS = 8;

    /** Fewer outputs share too few loads of inputs and weights. */
    private static final int LEAST_OUTPUTS = 5;

    /** Largest number of taps of straight code. */
    private static final int MOST_TAPS = 64;

    /** Cycles of eight taps where four channels of two outputs are computed together, and of the rest of an output. */
    private static final int TAPS_IN_BLOCK = 19;

    private static final int OUTPUT_IN_BLOCK = 8;

    /** Cycles of a call. */
    private static final int CALL = 50;

    @Override
    public String name() {
        return "dsp_depthwise_line";
    }

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp()
                        && workload.isPlainInt8()
                        && suits(workload.conv())
                        && outputs(workload.conv()).length > 0
                ? DspRequantize.of(workload.conv(), true)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && w.kernelW() > 1
                && w.dilationW() == 1
                && conv.taps() <= MOST_TAPS;
    }

    /** The numbers of outputs for which there are registers, and offsets that reach. */
    private static int[] outputs(ConvComputation conv) {
        return IntStream.rangeClosed(1, Math.min(MOST_OUTPUTS, conv.output().dim(2)))
                .filter(outputs -> isPossible(conv, outputs))
                .toArray();
    }

    private static boolean isPossible(ConvComputation conv, int outputs) {
        List<Line> lines = DspLineDepthwise.lines(conv, outputs);
        List<Integer> words = lines.get(0).words();
        return outputs * conv.channels() <= REACH
                && lines.stream()
                        .allMatch(line -> line.inputs() > 0
                                && line.words().equals(words)
                                && line.fitsRegisters()
                                && line.place(line.rows() - 1, line.inputs() - 1) <= REACH);
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        return Space.of(name(), Knob.of("outputs", outputs(workload.conv())));
    }

    @Override
    public long loopEnds(Workload workload, DspRequantize rescale, Configuration configuration) {
        return cycles(workload.conv(), rescale, configuration.number("outputs"));
    }

    /** About how many cycles a row takes. */
    private static long cycles(ConvComputation conv, DspRequantize rescale, int outputs) {
        List<Line> lines = DspLineDepthwise.lines(conv, outputs);
        boolean areApart = DspLineDepthwise.areApart(conv);
        long parts = areApart ? 1 : (conv.output().dim(2) + outputs - 1L) / outputs;
        int copied = areApart ? 0 : conv.window().kernelH() * DspPaddedRows.pitch(conv);
        long cycles = lines.stream()
                .mapToLong(line ->
                        CALL + (long) conv.channels() * new DspLineKernel(line, DspEpilogue.of(rescale)).cycles())
                .sum();
        return parts * cycles + copied;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        return new DspLineDepthwise(task, rescale, configuration.number("outputs")).loops();
    }

    /**
     * Of narrow rows, and of 3x3 windows where rows are computed one by one: two of them at a time, by {@link DspDepthwise}, take as long or less.
     */
    public Optional<Choice<DspRequantize>> chooseApart(Workload workload) {
        ConvComputation conv = workload.conv();
        int width = conv.output().dim(2);
        boolean areOneByOne = isThreeByThree(conv.window()) && !DspColumnDepthwise.isWhole(workload.rows());
        String reason =
                "depthwise with few rows in a window: the sums of neighbouring outputs of a channel in registers";
        return choose(workload, reason)
                .filter(choice -> DspLineDepthwise.areApart(conv))
                .filter(choice -> {
                    int outputs = choice.configuration().number("outputs");
                    return outputs == width || (areOneByOne && outputs >= LEAST_OUTPUTS);
                });
    }

    private static boolean isThreeByThree(Window w) {
        return w.kernelH() == 3 && w.kernelW() == 3;
    }

    /** Of all that take fewer cycles than four channels at a time do, by {@link DspWindowDepthwise}. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        return choose(workload, "depthwise with a large window: neighbouring outputs share the taps of a channel")
                .filter(choice -> {
                    ConvComputation conv = workload.conv();
                    long outputs = (long) conv.output().dim(2) * conv.channels();
                    return loopEnds(workload, choice.evidence(), choice.configuration())
                            < outputs * (OUTPUT_IN_BLOCK + TAPS_IN_BLOCK * conv.taps() / 8);
                });
    }

    private Optional<Choice<DspRequantize>> choose(Workload workload, String reason) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            int outputs = IntStream.of(outputs(workload.conv()))
                    .boxed()
                    .min(Comparator.comparing(count -> cycles(workload.conv(), rescale, count)))
                    .orElseThrow();
            String stored =
                    DspLineDepthwise.lines(workload.conv(), outputs).get(0).hasBytes()
                            ? ", weights stored as bytes"
                            : "";
            return new Choice<>(this, rescale, Configuration.of(name()).with("outputs", outputs), reason + stored);
        });
    }
}
