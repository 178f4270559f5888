// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.layer.ConvComputation;
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

/** Convolutions on Cortex-M with the DSP extension by one kernel for all layers, {@link SharedConv}. */
public final class SharedConvSchedule implements Schedule<ScalarRequantize> {
    @Override
    public String name() {
        return "dsp_conv_shared";
    }

    @Override
    public Optional<ScalarRequantize> applies(Workload workload) {
        return suits(workload)
                ? ScalarRequantize.ofScaled(workload.conv(), SharedEpilogue.FREE_BITS)
                : Optional.empty();
    }

    private static boolean suits(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp()
                && workload.isPlainInt8()
                && !conv.depthwise()
                && conv.groups() == 1
                && conv.channels() >= SharedConvKernel.BLOCK
                && SharedLayer.fits(workload)
                && SharedWeights.of(conv, SharedConvKernel.BLOCK).fit();
    }

    @Override
    public Space space(Workload workload, ScalarRequantize rescale) {
        return Space.of(name());
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRequantize rescale, Configuration configuration) {
        return new SharedConv(task, rescale).loops();
    }

    /** If size is optimized, except for single pixels, and for weights that are packed two to a byte. */
    public Optional<Choice<ScalarRequantize>> choose(Workload workload) {
        return workload.isForSize()
                ? choose(workload, "size: one kernel with SIMD for all convolutions")
                : Optional.empty();
    }

    /** For convolutions that are a small part of a model, with the same exceptions. */
    public Optional<Choice<ScalarRequantize>> chooseSmall(Workload workload) {
        return choose(workload, "a small part of the model: one kernel with SIMD for several convolutions");
    }

    private Optional<Choice<ScalarRequantize>> choose(Workload workload, String reason) {
        ConvComputation conv = workload.conv();
        boolean isSingle = conv.output().dim(1) * conv.output().dim(2) == 1;
        if (workload.features().hasMve() || isSingle || FourBitWeights.pack(workload)) {
            return Optional.empty();
        }
        return applies(workload).map(rescale -> new Choice<>(this, rescale, Configuration.of(name()), reason));
    }
}
