// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.parts.WindowRows;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.Optional;
import java.util.stream.IntStream;

/** Convolutions and dense layers of float data on a floating-point unit with fused multiply-add, by {@link FpuConv}. */
public final class FpuConvSchedule implements Schedule<FpuLimits> {
    private static final int PIXELS = 4;

    /** Sums of a single pixel; of several pixels, half as many channels. */
    private static final int SINGLE = 8;

    /** Taps of a step, if not two. */
    private static final String TAPS = "taps";

    /** Percent of the products that are added by instructions of their own. */
    private static final String UNFUSED = "unfused";

    @Override
    public String name() {
        return "fpu_conv";
    }

    @Override
    public Optional<FpuLimits> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = hasKernels(workload)
                && !conv.depthwise()
                && conv.groups() == 1
                && (conv.window().dilationW() == 1 || conv.window().kernelW() == 1);
        return suits ? Optional.of(FpuLimits.of(conv.op())) : Optional.empty();
    }

    /**
     * Whether the core has the kernels' instructions, and no vectors, the layer's data and weights are float, and each
     * window has a row inside the input.
     */
    public static boolean hasKernels(Workload workload) {
        ConvComputation conv = workload.conv();
        CpuFeatures features = workload.features();
        return features.family() == CpuFeatures.Family.CORTEX_M
                && features.hasFpu()
                && features.hasDsp()
                && !features.hasMve()
                && conv.isFloat()
                && conv.weight().type().dtype().isFloat()
                && !conv.isTransposed()
                && WindowRows.areInside(conv);
    }

    @Override
    public Space space(Workload workload, FpuLimits limits) {
        int most = Math.max(1, Math.min(PIXELS, Interior.of(workload.conv()).size()));
        return Space.of(
                        name(),
                        Knob.of("pixel_block", IntStream.rangeClosed(1, most).toArray()),
                        Knob.of("channel_block", SINGLE / 2, SINGLE, 2 * SINGLE),
                        Knob.unusual(TAPS, 3, 4),
                        Knob.unusual(UNFUSED, 6, 10, 14, 18, 25, 50, 100))
                .where(configuration -> blocks(configuration).fit());
    }

    private static FpuBlocks blocks(Configuration configuration) {
        return new FpuBlocks(
                configuration.number("pixel_block"),
                configuration.number("channel_block"),
                configuration.number(TAPS, 2),
                configuration.number(UNFUSED, 0));
    }

    @Override
    public LayerLoops lower(ConvTask task, FpuLimits limits, Configuration configuration) {
        return new FpuConv(task, blocks(configuration), limits).loops(task.rows());
    }

    /** Wherever it applies: one kernel serves many layers. */
    public Optional<Choice<FpuLimits>> choose(Workload workload) {
        return applies(workload).map(limits -> choice(workload, limits));
    }

    private Choice<FpuLimits> choice(Workload workload, FpuLimits limits) {
        ConvComputation conv = workload.conv();
        boolean isSingle = Interior.of(conv).size() < PIXELS;
        Configuration configuration = Configuration.of(name())
                .with("pixel_block", isSingle ? 1 : PIXELS)
                .with("channel_block", isSingle && conv.channels() > SINGLE / 2 ? SINGLE : SINGLE / 2);
        return new Choice<>(
                this, limits, configuration, "sums in floating-point registers, two taps in one multiple load (VFMA)");
    }
}
