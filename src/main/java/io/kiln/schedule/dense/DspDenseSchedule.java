// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.convolution.DspWeights;
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

/** Dense layers, and convolutions whose window is the whole input, on Cortex-M with the DSP extension, by {@link DspDense}. */
public final class DspDenseSchedule implements Schedule<DspRequantize> {
    /** Unrolled steps of four inputs in the innermost loop, if there is no measurement. */
    private static final int UNROLL = 16;

    /** The numbers to choose from where code may have any size. */
    private static final int[] UNROLLS = {2, 4, 8, UNROLL};

    /** Whether two words of weights are loaded by one instruction. */
    private static final String PAIRED = "paired_loads";

    @Override
    public String name() {
        return "dsp_dense";
    }

    @Override
    public Optional<DspRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(conv)
                ? DspRequantize.ofStarted(conv, DspWeights.fitInPairs(conv))
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        boolean isWhole = w.kernelH() == conv.input().dim(1)
                && w.kernelW() == conv.input().dim(2)
                && !w.isPadded();
        return conv.groups() == 1 && !conv.depthwise() && isWhole && conv.taps() >= 4;
    }

    @Override
    public Space space(Workload workload, DspRequantize rescale) {
        Knob block = Knob.of("channel_block", block(rescale));
        Knob paired = Knob.flag(PAIRED, false, true);
        if (workload.codeBytes().isEmpty()) {
            return Space.of(name(), block, Knob.of("unroll", UNROLLS), paired);
        }
        Knob unroll = Knob.of("unroll", IntStream.rangeClosed(2, UNROLL).toArray());
        return Space.of(name(), block, unroll, Knob.flag(Space.SHORT, false, true), paired)
                .where(each -> each.isOn(Space.SHORT) || isUnroll(each.number("unroll")));
    }

    private static boolean isUnroll(int unroll) {
        return IntStream.of(UNROLLS).anyMatch(each -> each == unroll);
    }

    /** Of a block of channels. */
    @Override
    public long loopEnds(Workload workload, DspRequantize rescale, Configuration configuration) {
        int steps = workload.conv().taps() / 4;
        int unroll = configuration.number("unroll");
        return configuration.isOn(Space.SHORT) && steps > unroll
                ? Turns.of(steps, unroll).cycles(steps)
                : Turns.END * (long) (steps / unroll);
    }

    /** Channels of a block. */
    private static int block(DspRequantize rescale) {
        return rescale.isSummed() ? 8 : 4;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        int block = configuration.number("channel_block");
        int unroll = configuration.number("unroll");
        return new DspDense(task, rescale, block, unroll, configuration.isOn(Space.SHORT), configuration.isOn(PAIRED))
                .loops(task.rows());
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRequantize>> choose(Workload workload) {
        return workload.isForSize() ? Optional.empty() : applies(workload).map(this::choice);
    }

    private Choice<DspRequantize> choice(DspRequantize rescale) {
        Configuration configuration =
                Configuration.of(name()).with("channel_block", block(rescale)).with("unroll", UNROLL);
        return new Choice<>(this, rescale, configuration, DspConvSchedule.reason(rescale));
    }
}
