// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.Optimize;
import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;
import java.util.stream.IntStream;

/** Convolutions of 3x3 on Cortex-M with the DSP extension, by {@link DspWinograd}. */
public record DspWinogradSchedule(String name) implements Schedule<DspRequantize> {
    private static final int BLOCK = DspWinograd.BLOCK;
    private static final int PIXELS = DspWinograd.PIXELS;
    private static final int UNROLL = DspWinogradKernel.MOST_UNROLLED;
    /** Limit because loops over channels are unrolled, with immediate offsets of factors. */
    private static final int MOST_CHANNELS = 32;
    /** Largest ratio of computed to needed work; above it the gain is lost. */
    private static final double MOST_EXCESS = 1.45;
    /** Factors are made of words of inputs. */
    private static final int LEAST_CHANNELS = 4;
    /** Larger layers use too much flash. */
    private static final int MOST_WEIGHT_BYTES = 24_576;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(workload.conv())
                ? DspRequantize.ofScaled(workload.conv(), DspWinogradWeights.SCALE_BITS)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        boolean isPlain = w.kernelH() == 3
                && w.kernelW() == 3
                && w.strideH() == 1
                && w.strideW() == 1
                && w.dilationH() == 1
                && w.dilationW() == 1;
        int channels = conv.input().dim(3);
        return isPlain
                && conv.groups() == 1
                && !conv.depthwise()
                && w.padLeft() <= 1
                && w.padRight() <= 1
                && channels >= LEAST_CHANNELS
                && channels <= MOST_CHANNELS
                && conv.channels() >= BLOCK
                && conv.output().dim(2) >= PIXELS;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob pixels = Knob.of("pixels", PIXELS);
        Knob block = Knob.of("channel_block", BLOCK);
        return workload.codeBytes().isPresent()
                ? Space.of(
                                name(),
                                pixels,
                                block,
                                DspTile.knob(DspWinograd.mostInTile(workload)),
                                Knob.unusual(
                                        "unroll",
                                        IntStream.rangeClosed(1, UNROLL).toArray()),
                                Knob.flag(Space.SHORT, false, true),
                                Knob.flag(DspConvSchedule.PAIRED, false, true))
                        .where(each ->
                                each.isOn(Space.SHORT) == each.value("unroll").isPresent()
                                        && !(each.isOn(Space.SHORT) && each.isOn(DspConvSchedule.PAIRED)))
                : Space.of(name(), pixels, block, Knob.flag(DspConvSchedule.PAIRED, false, true));
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        DspWinograd.Form form = new DspWinograd.Form(
                configuration.number("unroll", UNROLL),
                configuration.isOn(Space.SHORT),
                configuration.isOn(DspConvSchedule.PAIRED),
                configuration.number(Space.TILE, 1));
        return new DspWinograd(task, rescale, form).loops();
    }

    /**
     * If only speed is optimized, for layers that are not too large. Where flash waits, only for tiles of pixels: they take weights as bytes, which
     * saves more flash and waits than transforming them costs.
     */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        ConvComputation conv = workload.conv();
        int tile = DspWinograd.mostInTile(workload);
        if (workload.optimize() != Optimize.SPEED
                || DspWinogradWeights.bytes(conv) > MOST_WEIGHT_BYTES
                || DspWinograd.excess(conv) > MOST_EXCESS
                || (tile == 1 && DspTile.waits(workload))) {
            return Optional.empty();
        }
        Configuration start = Configuration.of(name()).with("pixels", PIXELS).with("channel_block", BLOCK);
        Configuration configuration = tile > 1 ? start.with(Space.TILE, tile) : start;
        String reason = "two pixels of 3x3 in 12 products in place of 18, exact in integers"
                + (tile > 1 ? "; weights as bytes, transformed for " + PIXELS * tile + " pixels at a time" : "");
        return applies(workload).map(rescale -> new Choice<>(this, rescale, configuration, reason));
    }
}
