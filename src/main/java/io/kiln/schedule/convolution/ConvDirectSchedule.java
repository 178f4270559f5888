// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Interior;
import io.kiln.schedule.parts.PlainLoops;
import io.kiln.schedule.parts.ScalarRequantize;
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

/** Convolutions and dense layers on any core, except depthwise ones, by {@link ConvDirect}. */
public final class ConvDirectSchedule implements Schedule<Workload> {
    /** With blocks of 4 channels, sums and operands fill 24 of 32 floating-point registers. */
    private static final int MOST_PIXELS = 4;

    /** Whether a rescaling that is proven to give the reference's results takes the place of its steps. */
    private static final String PROVEN = "proven_rescale";

    private static final int MOST_CHANNELS = 8;
    private static final int MOST_UNROLL = 4;

    @Override
    public String name() {
        return "conv_direct";
    }

    @Override
    public Optional<Workload> applies(Workload workload) {
        return Optional.of(workload).filter(w -> !w.conv().depthwise());
    }

    /** Blocks of channels never straddle groups, and the unrolling divides a run of channels. */
    @Override
    public Space space(Workload workload, Workload evidence) {
        ConvComputation conv = workload.conv();
        int perGroup = conv.channels() / conv.groups();
        int[] channels = IntStream.rangeClosed(1, Math.min(MOST_CHANNELS, perGroup))
                .filter(block -> conv.groups() == 1 || perGroup % block == 0)
                .toArray();
        int[] unroll = IntStream.rangeClosed(1, MOST_UNROLL)
                .filter(steps -> conv.channelsPerGroup() % steps == 0)
                .toArray();
        return Space.of(
                name(),
                Knob.of("channel_block", channels),
                Knob.of("unroll", unroll),
                Knob.unusual("pixel_block", pixelBlocks(workload)),
                FourBitWeights.knob(conv),
                proven(conv).isPresent() ? Knob.flag(PROVEN, false, true) : Knob.flag(PROVEN, false));
    }

    /** The rescaling by one high multiplication for layers of a single pixel, where a call of a micro-kernel may cost more than the products. */
    private static Optional<ScalarRequantize> proven(ConvComputation conv) {
        boolean isSingle = conv.output().dim(1) * conv.output().dim(2) == 1;
        return isSingle && !conv.isTransposed() && !conv.window().isPadded()
                ? ScalarRequantize.of(conv)
                : Optional.empty();
    }

    private static int[] pixelBlocks(Workload workload) {
        return IntStream.rangeClosed(2, MOST_PIXELS)
                .filter(pixels -> canBlockPixels(workload.conv(), pixels))
                .toArray();
    }

    private static boolean canBlockPixels(Workload workload) {
        return isFused(workload) && canBlockPixels(workload.conv(), MOST_PIXELS);
    }

    private static boolean canBlockPixels(ConvComputation conv, int pixels) {
        return isContiguous(conv) && !conv.isTransposed() && Interior.of(conv).size() >= pixels;
    }

    /** Whether a float multiply and add are one instruction. */
    private static boolean isFused(Workload workload) {
        CpuFeatures features = workload.features();
        return workload.conv().isFloat() && features.family() == CpuFeatures.Family.CORTEX_M && features.hasFpu();
    }

    /** Whether the rest of a window row is a single run in the input. */
    static boolean isContiguous(ConvComputation conv) {
        return conv.groups() == 1
                && (conv.window().dilationW() == 1 || conv.window().kernelW() == 1);
    }

    @Override
    public LayerLoops lower(ConvTask task, Workload evidence, Configuration configuration) {
        ConvDirect.Knobs knobs = new ConvDirect.Knobs(
                configuration.number("channel_block"),
                configuration.number("unroll"),
                configuration.number("pixel_block", 1),
                isFused(task.workload()),
                FourBitWeights.arePacked(configuration),
                configuration.isOn(PROVEN) ? proven(task.conv()) : Optional.empty());
        return new ConvDirect(task, knobs).loops(task.rows());
    }

    /** Wherever it applies. */
    public Optional<Choice<Workload>> choose(Workload workload) {
        return applies(workload).map(w -> new Choice<>(this, w, configuration(w), PlainLoops.reason(w)));
    }

    /**
     * Counted on the MLPerf Tiny keyword model: on Cortex-M blocks of 2 and 3 channels cost more than 4 (also in 16-bit
     * Thumb), on RISC-V 8 costs 14 % more than 4, on x86-64 4 costs 4 % more than 8.
     */
    private Configuration configuration(Workload workload) {
        ConvComputation conv = workload.conv();
        CpuFeatures features = workload.features();
        boolean small =
                features.family() == CpuFeatures.Family.CORTEX_M || features.family() == CpuFeatures.Family.RISCV;
        int pixels = !workload.isForSize() && canBlockPixels(workload) ? MOST_PIXELS : 1;
        boolean wide = !small || (isFused(workload) && pixels == 1);
        int most = workload.isForSize() ? 2 : wide ? MOST_CHANNELS : 4;
        int perGroup = conv.channels() / conv.groups();
        int block = conv.groups() == 1 ? Math.min(most, perGroup) : largestDivisor(perGroup, most);
        Configuration configuration = Configuration.of(name())
                .with("channel_block", block)
                .with("unroll", largestDivisor(conv.channelsPerGroup(), workload.isForSize() ? 1 : MOST_UNROLL))
                .withUnusual("pixel_block", pixels, 1);
        return FourBitWeights.packed(configuration, workload);
    }

    private static int largestDivisor(int value, int atMost) {
        int divisor = atMost;
        while (value % divisor != 0) {
            divisor--;
        }
        return divisor;
    }
}
