// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Convolutions of int16 or float data by one of the kernels for dot products, by {@link DotConv}. */
public record DotConvSchedule(String name) implements Schedule<DotKernel> {
    /** Layers with fewer multiply-accumulates run in plain loops if size is optimized. */
    private static final long LEAST_MACS = 5000;

    @Override
    public Optional<DotKernel> applies(Workload workload) {
        return DotKernel.of(workload).stream()
                .filter(kernel -> kernel.title().equals(name))
                .filter(kernel -> suits(workload.conv(), kernel))
                .findFirst();
    }

    /** Zero points of int16 data are 0, or folded into the biases. */
    private static boolean suits(ConvComputation conv, DotKernel kernel) {
        boolean isFilled = !conv.window().isPadded() || DotInputs.areCopied(conv, kernel);
        return conv.isFloat() || conv.inputZeroPoint() == 0 || (isFilled && BiasTable.isFoldedIfFilled(conv));
    }

    @Override
    public Space space(Workload workload, DotKernel kernel) {
        ConvComputation conv = workload.conv();
        boolean isCopied = DotInputs.areCopied(conv, kernel);
        List<Knob> knobs = new ArrayList<>(List.of(
                Knob.of(
                        "pixel_block",
                        IntStream.rangeClosed(1, mostPixels(conv, kernel)).toArray()),
                Knob.of("channel_block", kernel.channels()),
                Knob.flag("padded_rows", isCopied),
                BiasTable.isWide(conv, isCopied) ? Knob.of("sums", 64) : Knob.unusual("sums")));
        knobs.addAll(kernel.knobs());
        return new Space(name, knobs, kernel::isKernel);
    }

    private static int mostPixels(ConvComputation conv, DotKernel kernel) {
        return Math.min(kernel.pixels(), conv.output().dim(2));
    }

    @Override
    public LayerLoops lower(ConvTask task, DotKernel kernel, Configuration configuration) {
        return new DotConv(task, kernel.with(configuration), configuration.number("pixel_block")).loops(task);
    }

    /** Unless size is optimized, and the layer takes little time or its weights fit four bits. */
    public Optional<Choice<DotKernel>> choose(Workload workload) {
        boolean isLarge = workload.conv().macsInside() >= LEAST_MACS && !FourBitWeights.pack(workload);
        return workload.isForSize() && !isLarge
                ? Optional.empty()
                : applies(workload).map(kernel -> choice(workload, kernel));
    }

    private Choice<DotKernel> choice(Workload workload, DotKernel kernel) {
        ConvComputation conv = workload.conv();
        boolean isCopied = DotInputs.areCopied(conv, kernel);
        Configuration configuration = Configuration.of(name)
                .with("pixel_block", mostPixels(conv, kernel))
                .with("channel_block", kernel.channels())
                .withFlag("padded_rows", isCopied)
                .withUnusual("sums", BiasTable.isWide(conv, isCopied) ? 64 : 32, 32);
        return new Choice<>(this, kernel, kernel.usual(configuration), kernel.reason());
    }
}
