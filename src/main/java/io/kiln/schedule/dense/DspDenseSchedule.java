// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.ir.op.Window;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.DspConvSchedule;
import io.kiln.schedule.convolution.DspRequantize;
import io.kiln.schedule.convolution.DspWeights;
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
                ? DspRequantize.of(conv, DspWeights.fitInPairs(conv))
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
        return Space.of(
                name(),
                Knob.of("channel_block", block(rescale)),
                workload.codeBytes().isPresent()
                        ? Knob.of("unroll", IntStream.rangeClosed(1, UNROLL).toArray())
                        : Knob.of("unroll", 2, 4, 8, UNROLL),
                Knob.flag(PAIRED, false, true));
    }

    /** Channels of a block. */
    private static int block(DspRequantize rescale) {
        return rescale.isSummed() ? 8 : 4;
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRequantize rescale, Configuration configuration) {
        int block = configuration.number("channel_block");
        int unroll = configuration.number("unroll");
        return new DspDense(task, rescale, block, unroll, configuration.isOn(PAIRED)).loops(task.rows());
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
