// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

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

/** Convolutions on Cortex-M with the DSP extension, by {@link DspConv}. */
public final class DspConvSchedule implements Schedule<DspRescale> {
    /** Also used by {@link DspDenseSchedule}. */
    static String reason(DspRescale rescale) {
        return (rescale.isSummed() ? "two weights a halfword, " : "weights as bytes, ") + rescale.inWords();
    }

    /** A knob of several schedules: whether two words and more are loaded and stored by one instruction. */
    static final String PAIRED = "paired_words";

    private static final int BLOCK = 4;

    /** Fewer inputs of a group are gathered more slowly than plain loops multiply them. */
    private static final int LEAST_OF_GROUP = 4;

    /** Unrolled steps of two inputs in the innermost loop, if there is no measurement. */
    private static final int UNROLL = 24;

    @Override
    public String name() {
        return "dsp_conv";
    }

    @Override
    public Optional<DspRescale> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.features().hasDsp() && workload.isPlainInt8() && suits(conv)
                ? DspRescale.of(conv, DspWeights.fit(conv))
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        return !conv.depthwise() && (conv.groups() == 1 || conv.channelsPerGroup() >= LEAST_OF_GROUP);
    }

    @Override
    public Space space(Workload workload, DspRescale rescale) {
        return Space.of(
                name(),
                Knob.of("pixels", 2),
                Knob.of("channel_block", BLOCK),
                Knob.of("unroll", 4, 8, 16, UNROLL),
                Knob.flag(PAIRED, false, true));
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRescale rescale, Configuration configuration) {
        return new DspConv(task, rescale, configuration.number("unroll"), configuration.isOn(PAIRED))
                .loops(task.rows());
    }

    /** Unless size is optimized. */
    public Optional<Choice<DspRescale>> choose(Workload workload) {
        Configuration configuration = Configuration.of(name())
                .with("pixels", 2)
                .with("channel_block", BLOCK)
                .with("unroll", UNROLL);
        return workload.isForSize()
                ? Optional.empty()
                : applies(workload).map(rescale -> new Choice<>(this, rescale, configuration, reason(rescale)));
    }
}
