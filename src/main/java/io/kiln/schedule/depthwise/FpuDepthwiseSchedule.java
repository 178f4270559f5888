// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.FpuConvSchedule;
import io.kiln.schedule.convolution.FpuLimits;
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

/** Depthwise convolutions of float data on a floating-point unit with fused multiply-add, by {@link FpuDepthwise}. */
public final class FpuDepthwiseSchedule implements Schedule<FpuLimits> {
    private static final int REGISTERS = 32;
    private static final int MOST_PIXELS = 4;

    @Override
    public String name() {
        return "fpu_depthwise";
    }

    @Override
    public Optional<FpuLimits> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = FpuConvSchedule.hasKernels(workload)
                && conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.channels() >= FpuDepthwise.CHANNELS
                && mostPixels(conv) > 0;
        return suits ? Optional.of(FpuLimits.of(conv.op())) : Optional.empty();
    }

    /** Largest number of pixels whose sums fit the registers beside the weights of a row of the window and an input; 0 if none does. */
    private static int mostPixels(ConvComputation conv) {
        int left = REGISTERS / FpuDepthwise.CHANNELS - conv.window().kernelW() - 1;
        return Math.max(0, Math.min(Math.min(MOST_PIXELS, left), conv.output().dim(2)));
    }

    @Override
    public Space space(Workload workload, FpuLimits limits) {
        int most = mostPixels(workload.conv());
        return Space.of(
                name(), Knob.of("pixel_block", IntStream.rangeClosed(1, most).toArray()));
    }

    @Override
    public LayerLoops lower(ConvTask task, FpuLimits limits, Configuration configuration) {
        return new FpuDepthwise(task, configuration.number("pixel_block"), limits).loops(task.rows());
    }

    /** Wherever it applies. */
    public Optional<Choice<FpuLimits>> choose(Workload workload) {
        return applies(workload).map(limits -> choice(workload, limits));
    }

    private Choice<FpuLimits> choice(Workload workload, FpuLimits limits) {
        Configuration configuration = Configuration.of(name()).with("pixel_block", mostPixels(workload.conv()));
        return new Choice<>(
                this, limits, configuration, "pixels side by side share inputs and weights of four channels (VFMA)");
    }
}
