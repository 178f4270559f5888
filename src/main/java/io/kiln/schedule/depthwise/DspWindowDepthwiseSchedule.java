// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Depthwise convolutions with large windows on Cortex-M with the DSP extension, by {@link DspWindowDepthwise}. */
public final class DspWindowDepthwiseSchedule implements Schedule<DspRequantize> {
    private static final int BLOCK = DspColumnDepthwise.BLOCK;

    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    /** Largest number of taps of straight code. */
    private static final int MOST_TAPS = 64;

    @Override
    public String name() {
        return "dsp_depthwise_window";
    }

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(workload.conv())
                ? DspRequantize.of(workload.conv(), true)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.channels() >= BLOCK
                && conv.taps() <= MOST_TAPS
                && DspWindowDepthwise.reach(conv) + BLOCK <= REACH;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob pixels = together(workload.conv()) == 2 ? Knob.of("pixels", 1, 2) : Knob.of("pixels", 1);
        return Space.of(
                name(), pixels, Knob.of("channel_block", BLOCK), Knob.flag(DspConvSchedule.PAIRED, false, true));
    }

    /** Pixels that share inputs: they must be one column apart. */
    private static int together(ConvComputation conv) {
        Window w = conv.window();
        boolean areNeighbours = w.strideW() == 1 && (w.dilationW() == 1 || w.kernelW() == 1);
        return areNeighbours && conv.output().dim(2) > 1 ? 2 : 1;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        return new DspWindowDepthwise(
                        task, rescale, configuration.number("pixels"), configuration.isOn(DspConvSchedule.PAIRED))
                .loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            Configuration configuration = Configuration.of(name())
                    .with("pixels", together(workload.conv()))
                    .with("channel_block", BLOCK);
            String reason =
                    "depthwise with a large window: four channels share a load, neighbouring pixels share inputs and"
                            + " weights";
            return new Choice<>(this, rescale, configuration, reason);
        });
    }
}
