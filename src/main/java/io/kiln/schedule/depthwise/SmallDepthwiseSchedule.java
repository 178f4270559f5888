// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.schedule.convolution.BlockedLoops;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.Optional;

/** Depthwise convolutions optimized for size on cores without vectors, by {@link SmallDepthwise}. */
public final class SmallDepthwiseSchedule implements Schedule<ScalarRequantize> {
    @Override
    public String name() {
        return "depthwise_small";
    }

    @Override
    public Optional<ScalarRequantize> applies(Workload workload) {
        return workload.isPlainInt8() && BlockedDepthwiseSchedule.suits(workload.conv())
                ? ScalarRequantize.of(workload.conv())
                : Optional.empty();
    }

    @Override
    public Space space(Workload workload, ScalarRequantize rescale) {
        return Space.of(name(), FourBitWeights.knob(workload.conv()));
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRequantize rescale, Configuration configuration) {
        return new SmallDepthwise(task, rescale, FourBitWeights.arePacked(configuration)).loops(task);
    }

    /**
     * If size is optimized; rescalings with corrections take 12 bytes per channel or more, and the alternative on a core with DSP
     * instructions takes 9.
     */
    public Optional<Choice<ScalarRequantize>> choose(Workload workload) {
        CpuFeatures features = workload.features();
        if (!workload.isForSize() || !BlockedLoops.isFor(workload)) {
            return Optional.empty();
        }
        Configuration configuration = FourBitWeights.packed(Configuration.of(name()), workload);
        String reason = "size: one kernel for all depthwise layers";
        return applies(workload)
                .filter(rescale -> rescale.correction().count() == 0 || !features.hasDsp())
                .map(rescale -> new Choice<>(this, rescale, configuration, reason));
    }
}
