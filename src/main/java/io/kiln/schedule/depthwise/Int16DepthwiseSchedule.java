// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.layer.ConvComputation;
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

/** Depthwise convolutions of int16 data by one of the kernels of {@link Int16Depthwise}. */
public record Int16DepthwiseSchedule(String name) implements Schedule<Int16DepthwiseSchedule.Evidence> {
    /**
     * Why it applies.
     *
     * @param kernel the core's kernel
     * @param layer what is proven
     */
    record Evidence(Int16DepthwiseKernel kernel, Int16DepthwiseLayer layer) {}

    @Override
    public Optional<Evidence> applies(Workload workload) {
        return Int16DepthwiseKernel.of(workload)
                .filter(kernel -> kernel.title().equals(name))
                .flatMap(kernel -> Int16DepthwiseLayer.of(workload.conv()).map(layer -> new Evidence(kernel, layer)));
    }

    @Override
    public Space space(Workload workload, Evidence evidence) {
        int most = mostPixels(workload.conv(), evidence.kernel);
        return Space.of(
                name, Knob.of("pixel_block", IntStream.rangeClosed(1, most).toArray()));
    }

    private static int mostPixels(ConvComputation conv, Int16DepthwiseKernel kernel) {
        return Math.min(kernel.pixels(), conv.output().dim(2));
    }

    @Override
    public LayerLoops lower(ConvTask task, Evidence evidence, Configuration configuration) {
        return new Int16Depthwise(task, evidence.kernel, evidence.layer, configuration.number("pixel_block"))
                .loops(task.rows());
    }

    /** Unless size is optimized. */
    public Optional<Choice<Evidence>> choose(Workload workload) {
        return workload.isForSize() ? Optional.empty() : applies(workload).map(evidence -> choice(workload, evidence));
    }

    private Choice<Evidence> choice(Workload workload, Evidence evidence) {
        Configuration configuration =
                Configuration.of(name).with("pixel_block", mostPixels(workload.conv(), evidence.kernel));
        return new Choice<>(this, evidence, configuration, evidence.kernel.reason());
    }
}
