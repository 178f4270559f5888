// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.PlainLoops;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Depthwise convolutions on any core, by {@link DepthwiseDirect}. */
public final class DepthwiseDirectSchedule implements Schedule<Workload> {
    /** Windows with more taps than this keep their loops, to limit code size. */
    private static final int MOST_UNROLLED_TAPS = 32;

    @Override
    public String name() {
        return "depthwise_direct";
    }

    @Override
    public Optional<Workload> applies(Workload workload) {
        return Optional.of(workload).filter(w -> w.conv().depthwise());
    }

    @Override
    public Space space(Workload workload, Workload evidence) {
        ConvComputation conv = workload.conv();
        Knob unrolled = canUnroll(conv) ? Knob.of("unrolled", false, true) : Knob.of("unrolled", false);
        int[] pixels = DepthwisePixels.areFast(workload)
                ? DepthwisePixels.blocks(conv).stream().mapToInt(p -> p).skip(1).toArray()
                : new int[0];
        return Space.of(name(), unrolled, Knob.unusual("pixel_block", pixels), FourBitWeights.knob(conv));
    }

    private static boolean canUnroll(ConvComputation conv) {
        return conv.window().kernelH() * conv.window().kernelW() <= MOST_UNROLLED_TAPS;
    }

    @Override
    public LayerLoops lower(ConvTask task, Workload evidence, Configuration configuration) {
        DepthwiseDirect.Knobs knobs = new DepthwiseDirect.Knobs(
                configuration.value("unrolled").filter("true"::equals).isPresent(),
                configuration.number("pixel_block", 1),
                FourBitWeights.arePacked(configuration));
        return new DepthwiseDirect(task, knobs).loops(task.rows());
    }

    /** Wherever it applies. */
    public Optional<Choice<Workload>> choose(Workload workload) {
        return applies(workload).map(this::choice);
    }

    private Choice<Workload> choice(Workload workload) {
        boolean inBlocks = DepthwisePixels.areFast(workload) && !workload.isForSize();
        int pixels = inBlocks ? DepthwisePixels.best(workload.conv()) : 1;
        Configuration configuration = Configuration.of(name())
                .with("unrolled", Boolean.toString(canUnroll(workload.conv())))
                .withUnusual("pixel_block", pixels, 1);
        String reason = pixels == 1
                ? PlainLoops.reason(workload)
                : "depthwise: pixels side by side share their inputs and weights";
        return new Choice<>(this, workload, FourBitWeights.packed(configuration, workload), reason);
    }
}
