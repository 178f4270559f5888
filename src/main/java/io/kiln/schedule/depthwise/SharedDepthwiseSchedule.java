// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.SharedEpilogue;
import io.kiln.schedule.convolution.SharedLayer;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Depthwise convolutions on Cortex-M with the DSP extension by one kernel for all layers, {@link SharedDepthwise}. */
public final class SharedDepthwiseSchedule implements Schedule<ScalarRequantize> {
    /** Largest number of widened weights of a channel, to limit scratch. */
    private static final int MOST_WEIGHTS = 128;

    @Override
    public String name() {
        return "dsp_depthwise_shared";
    }

    @Override
    public Optional<ScalarRequantize> applies(Workload workload) {
        return suits(workload)
                ? ScalarRequantize.ofScaled(workload.conv(), SharedEpilogue.FREE_BITS)
                : Optional.empty();
    }

    private static boolean suits(Workload workload) {
        ConvComputation conv = workload.conv();
        Window w = conv.window();
        return workload.features().hasDsp()
                && workload.isPlainInt8()
                && conv.depthwise()
                && conv.channels() == conv.input().dim(3)
                && conv.channels() >= SharedDepthwiseKernel.BLOCK
                && w.dilationH() == 1
                && w.dilationW() == 1
                && w.kernelH() * w.kernelH() * w.kernelW() <= MOST_WEIGHTS
                && SharedDepthwise.reachesInput(conv)
                && SharedLayer.fits(workload);
    }

    @Override
    public Space space(Workload workload, ScalarRequantize rescale) {
        return Space.of(name());
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRequantize rescale, Configuration configuration) {
        return new SharedDepthwise(task, rescale).loops();
    }

    /** If size is optimized, except for weights that are packed two to a byte and rescalings with corrections, which take more than plain loops do. */
    public Optional<Choice<ScalarRequantize>> choose(Workload workload) {
        if (!workload.isForSize() || workload.features().hasMve() || FourBitWeights.pack(workload)) {
            return Optional.empty();
        }
        String reason = "size: one kernel with SIMD for all depthwise layers";
        return applies(workload)
                .filter(rescale -> rescale.correction().count() == 0)
                .map(rescale -> new Choice<>(this, rescale, Configuration.of(name()), reason));
    }
}
