// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.Interior;
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

/** Depthwise convolutions of float data on MVE, by {@link MveFloatDepthwise}. */
public final class MveFloatDepthwiseSchedule implements Schedule<Workload> {
    private static final int MOST_PIXELS = 4;

    @Override
    public String name() {
        return "mve_depthwise_float";
    }

    @Override
    public Optional<Workload> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = workload.features().hasMve()
                && workload.features().hasFpu()
                && conv.depthwise()
                && conv.isFloat()
                && conv.weight().type().dtype().isFloat()
                && conv.channels() == conv.input().dim(3);
        return Optional.of(workload).filter(w -> suits);
    }

    @Override
    public Space space(Workload workload, Workload evidence) {
        int[] pixels = IntStream.rangeClosed(1, mostPixels(workload.conv())).toArray();
        return Space.of(name(), Knob.of("pixel_block", pixels));
    }

    private static int mostPixels(ConvComputation conv) {
        return Math.max(1, Math.min(MOST_PIXELS, Interior.of(conv).size()));
    }

    @Override
    public LayerLoops lower(ConvTask task, Workload evidence, Configuration configuration) {
        return new MveFloatDepthwise(task, configuration.number("pixel_block")).loops(task.rows());
    }

    /** Wherever it applies. */
    public Optional<Choice<Workload>> choose(Workload workload) {
        Configuration configuration = Configuration.of(name()).with("pixel_block", mostPixels(workload.conv()));
        String reason = "four channels in one instruction (MVE)";
        return applies(workload).map(evidence -> new Choice<>(this, evidence, configuration, reason));
    }
}
