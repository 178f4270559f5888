// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.Optimize;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.Turns;
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

/** Convolutions on Cortex-M with the DSP extension, by {@link DspConv}. */
public record DspConvSchedule(String name) implements Schedule<DspRequantize> {
    /** What the report says about the packed weights and the requantization; dense layers say the same. */
    public static String reason(DspRequantize rescale) {
        return (rescale.isSummed() ? "two weights a halfword, " : "weights as bytes, ") + rescale.inWords();
    }

    /** A knob of several schedules: whether two words and more are loaded and stored by one instruction. */
    public static final String PAIRED = "paired_words";

    private static final int BLOCK = 4;

    /** Fewer inputs of a group are gathered more slowly than plain loops multiply them. */
    private static final int LEAST_OF_GROUP = 4;

    /** Unrolled steps of two inputs in the innermost loop, if there is no measurement. */
    private static final int UNROLL = 24;

    /** The numbers to choose from where code may have any size. */
    private static final int[] UNROLLS = {4, 8, 16, UNROLL};

    /** The same if size is optimized. */
    private static final int LEAST_UNROLL = 4;

    /** The same for weights of four bits, of which size is what matters. */
    private static final int PACKED_UNROLL = 16;

    /** So many weights of four bits and a kernel of their own take less flash than bytes do, */
    private static final int LEAST_PACKED = 256;

    /** and so many hardly more than plain loops, where size is optimized. */
    private static final int LEAST_PACKED_FOR_SIZE = 16_384;

    /** Inputs of a window whose sums fit, with room for what fills it up. */
    private static final int MOST_PACKED_INPUTS = 3072;

    /** Multiply-accumulates from which on cycles matter if size is optimized. */
    private static final long LEAST_MACS = 20_000;

    /** Bytes of weights that may double if size is optimized. */
    private static final int MOST_WEIGHTS = 1024;

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(conv)
                ? DspRequantize.of(conv, DspWeights.fit(conv))
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return !conv.depthwise() && (conv.groups() == 1 || conv.channelsPerGroup() >= LEAST_OF_GROUP);
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob pixels = Knob.of("pixels", 2);
        Knob block = Knob.of("channel_block", BLOCK);
        Knob paired = Knob.flag(PAIRED, false, true);
        Knob bits = canPack(workload) ? FourBitWeights.knob(workload.conv()) : FourBitWeights.unpacked();
        if (workload.codeBytes().isEmpty()) {
            return Space.of(name(), pixels, block, Knob.of("unroll", UNROLLS), paired, bits);
        }
        Knob unroll = Knob.of("unroll", IntStream.rangeClosed(2, UNROLL).toArray());
        Knob tile = DspTile.knob(DspConv.mostInTile(workload));
        return Space.of(name(), pixels, block, tile, unroll, Knob.flag(Space.SHORT, false, true), paired, bits)
                .where(each -> each.isOn(Space.SHORT) || isUnroll(each.number("unroll")))
                .where(each -> !FourBitWeights.arePacked(each)
                        || each.value(Space.TILE).isEmpty());
    }

    /** Whether there are enough channels for whole blocks, and 256 times each sum with weights from 0 to 15 fits 32 bits. */
    private static boolean canPack(Workload workload) {
        ConvComputation conv = workload.conv();
        return conv.groups() == 1
                && conv.channels() >= BLOCK
                && conv.taps() <= MOST_PACKED_INPUTS
                && FourBitWeights.fit(conv)
                && DspRequantize.of(conv, false).isPresent();
    }

    private static boolean isUnroll(int unroll) {
        return IntStream.of(UNROLLS).anyMatch(each -> each == unroll);
    }

    /** Of a block of channels. */
    @Override
    public long loopEnds(Workload workload, DspRequantize rescale, Configuration configuration) {
        int steps = (workload.conv().taps() / workload.conv().groups() + 3) / 4 * 2;
        int unroll = configuration.number("unroll");
        return configuration.isOn(Space.SHORT) && steps > unroll
                ? Turns.of(steps, unroll).cycles(steps)
                : Turns.END * (long) (steps / unroll);
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        boolean isPacked = FourBitWeights.arePacked(configuration);
        DspConv.Form form = new DspConv.Form(
                configuration.number("unroll"),
                configuration.isOn(Space.SHORT),
                configuration.isOn(PAIRED),
                configuration.number(Space.TILE, 1),
                isPacked);
        DspRequantize plain = isPacked ? DspRequantize.of(task.conv(), false).orElseThrow() : rescale;
        return new DspConv(task, plain, form).loops();
    }

    /** Weights of four bits, of layers that are not small: half the flash, and a kernel that takes hardly more time than one of bytes. */
    public Optional<Choice<DspRequantize>> chooseFourBits(Workload workload) {
        int least = workload.isForSize() ? LEAST_PACKED_FOR_SIZE : LEAST_PACKED;
        if (workload.conv().weight().data().size() < least) {
            return Optional.empty();
        }
        int unroll = workload.isForSize() ? LEAST_UNROLL : PACKED_UNROLL;
        Configuration packed = FourBitWeights.packed(configuration(unroll), true);
        return applies(workload)
                .filter(rescale -> canPack(workload))
                .map(rescale ->
                        new Choice<>(this, rescale, packed, "two weights to a byte, multiplied where they lie"));
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        return workload.isForSize()
                ? Optional.empty()
                : applies(workload).map(rescale -> new Choice<>(this, rescale, tiled(workload), reason(rescale)));
    }

    /** Unless RAM is optimized, which scratch is part of. */
    private Configuration tiled(Workload workload) {
        int tile = workload.optimize() == Optimize.RAM ? 1 : DspConv.mostInTile(workload);
        Configuration start = Configuration.of(name()).with("pixels", 2).with("channel_block", BLOCK);
        return (tile > 1 ? start.with(Space.TILE, tile) : start).with("unroll", UNROLL);
    }

    /** If size is optimized, for a model's only convolution: its kernel then takes no more flash than one for all would. */
    public Optional<Choice<DspRequantize>> chooseOnly(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean isLight = conv.weight().data().size() <= MOST_WEIGHTS && !FourBitWeights.pack(workload);
        boolean isLarge = workload.macs() >= LEAST_MACS;
        if (!workload.isForSize() || workload.features().hasMve() || !isLight || !isLarge) {
            return Optional.empty();
        }
        String reason = "size: the model's only convolution";
        return applies(workload).map(rescale -> new Choice<>(this, rescale, configuration(LEAST_UNROLL), reason));
    }

    private Configuration configuration(int unroll) {
        return Configuration.of(name())
                .with("pixels", 2)
                .with("channel_block", BLOCK)
                .with("unroll", unroll);
    }
}
