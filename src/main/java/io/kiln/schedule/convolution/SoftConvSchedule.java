// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

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

/** Convolutions and dense layers of float data on cores without a floating-point unit, by {@link SoftConv}, or {@link SoftProducts} if results are sums of few products. */
public record SoftConvSchedule(String name) implements Schedule<SoftCore> {
    /** Taps of the loop for speed. */
    private static final int UNROLLED = 4;

    private static final String FEW =
            "no floating-point unit: sums of integers with the exponent of the largest product";

    private static final String UNROLL = "unroll";
    private static final String CHANNELS = "channel_block";

    @Override
    public Optional<SoftCore> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return SoftCore.of(workload)
                .filter(core -> !SoftGroups.isDepthwise(conv)
                        && SoftWeights.suits(conv)
                        && (hasFew(workload)
                                ? SoftProducts.suits(conv, core, workload.isForSize())
                                : conv.taps() <= SoftPrecision.MOST_TAPS));
    }

    /** Whether there are too few products for a common exponent. */
    private static boolean hasFew(Workload workload) {
        return workload.conv().taps() < SoftPrecision.LEAST_TAPS;
    }

    @Override
    public Space space(Workload workload, SoftCore core) {
        if (hasFew(workload)) {
            return Space.of(name());
        }
        Knob channels = Knob.of(CHANNELS, blocks(workload, core.mostChannels()).toArray());
        return switch (core) {
            case ARMV7_M -> Space.of(name(), channels, Knob.of(UNROLL, 1, 2, 4, 8));
            case ARMV6_M -> Space.of(name(), channels, Knob.of(UNROLL, SoftCore.THUMB1_TAPS));
            case RV32 -> Space.of(name(), channels, Knob.of(UNROLL, SoftCore.RISCV_TAPS, 2 * SoftCore.RISCV_TAPS));
        };
    }

    /** How many channels may go together; of a group, blocks have no rest. */
    private static IntStream blocks(Workload workload, int most) {
        SoftGroups groups = SoftGroups.of(workload.conv());
        return IntStream.rangeClosed(1, Math.min(most, groups.outputs()))
                .filter(block -> groups.count() == 1 || groups.outputs() % block == 0);
    }

    @Override
    public LayerLoops lower(ConvTask task, SoftCore core, Configuration configuration) {
        if (hasFew(task.workload())) {
            return SoftProducts.of(task, core);
        }
        return SoftConv.dot(task, new SoftKernel(core, configuration.number(CHANNELS), configuration.number(UNROLL)));
    }

    /** Wherever it applies: the functions of the library take ten times as many cycles. */
    public Optional<Choice<SoftCore>> choose(Workload workload) {
        return applies(workload).map(core -> {
            if (hasFew(workload)) {
                return new Choice<>(this, core, Configuration.of(name()), FEW);
            }
            Configuration configuration = Configuration.of(name())
                    .with(CHANNELS, blocks(workload, core.channels()).max().orElseThrow())
                    .with(UNROLL, Math.max(core.step(), UNROLLED));
            return new Choice<>(
                    this,
                    core,
                    configuration,
                    "no floating-point unit: sums of integers with a common exponent, again with exponents of their"
                            + " own where too little is left");
        });
    }
}
