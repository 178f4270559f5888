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

/** Depthwise convolutions over time on Cortex-M with the DSP extension, by {@link DspColumnDepthwise}. */
public record DspColumnDepthwiseSchedule(String name) implements Schedule<DspRequantize> {
    private static final int BLOCK = DspColumnDepthwise.BLOCK;

    /** Range of immediate offsets. */
    private static final int REACH = 4095;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(workload.conv())
                ? DspRequantize.of(workload.conv(), true)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.channels() >= BLOCK
                && conv.channels() + BLOCK <= REACH
                && conv.output().dim(2) == 1
                && w.kernelW() == 1
                && !w.isPadded()
                && (long) w.kernelH() * w.dilationH() * DspColumnDepthwise.rowElements(conv) <= REACH;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob rows = together(workload) == 2 ? Knob.of("rows", 1, 2) : Knob.of("rows", 1);
        return Space.of(name(), rows, Knob.of("channel_block", BLOCK), Knob.flag(DspConvSchedule.PAIRED, false, true));
    }

    /** Rows of the output that share inputs: they must be one input row apart. */
    private static int together(Workload workload) {
        ConvComputation conv = workload.conv();
        Window w = conv.window();
        boolean isWhole = DspColumnDepthwise.isWhole(workload.rows());
        return isWhole
                        && w.strideH() == 1
                        && w.dilationH() == 1
                        && conv.output().dim(1) > 1
                ? 2
                : 1;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        return new DspColumnDepthwise(
                        task, rescale, configuration.number("rows"), configuration.isOn(DspConvSchedule.PAIRED))
                .loops();
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        if (workload.isForSize()) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> {
            Configuration configuration =
                    Configuration.of(name()).with("rows", together(workload)).with("channel_block", BLOCK);
            String reason =
                    "depthwise over time: four channels share a load, rows computed together share inputs and weights";
            return new Choice<>(this, rescale, configuration, reason);
        });
    }
}
