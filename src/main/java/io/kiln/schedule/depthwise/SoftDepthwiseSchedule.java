// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.SoftConv;
import io.kiln.schedule.convolution.SoftCore;
import io.kiln.schedule.convolution.SoftPrecision;
import io.kiln.schedule.convolution.SoftProducts;
import io.kiln.schedule.convolution.SoftWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Depthwise convolutions of float data on cores without a floating-point unit, by {@link SoftProducts} or, if windows are large, {@link SoftConv}. */
public record SoftDepthwiseSchedule(String name) implements Schedule<SoftCore> {
    @Override
    public Optional<SoftCore> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return SoftCore.of(workload)
                .filter(core -> conv.isOneToOne()
                        && SoftWeights.suits(conv)
                        && (conv.taps() >= SoftPrecision.LEAST_TAPS
                                || SoftProducts.suits(conv, core, workload.isForSize())));
    }

    @Override
    public LayerLoops lower(ConvTask task, SoftCore core, Configuration configuration) {
        return SoftProducts.suits(task.conv(), core, task.isForSize())
                ? SoftProducts.of(task, core)
                : SoftConv.depthwise(task, core);
    }

    /** Wherever it applies. */
    public Optional<Choice<SoftCore>> choose(Workload workload) {
        return applies(workload)
                .map(core -> new Choice<>(
                        this,
                        core,
                        Configuration.of(name()),
                        "no floating-point unit: sums of integers with the exponent of the largest product"));
    }
}
