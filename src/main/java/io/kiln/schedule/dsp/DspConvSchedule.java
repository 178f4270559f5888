// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
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

/** Ungrouped convolutions on Cortex-M with the DSP extension, by {@link DspConv}. */
public final class DspConvSchedule implements Schedule<DspRescale> {
    /** Also used by {@link DspDenseSchedule}. */
    static final String REASON = "two weights a halfword and one high multiply per output, proven exact";

    private static final int BLOCK = 4;

    /** Unrolled steps of two inputs in the innermost loop, if there is no measurement. */
    private static final int UNROLL = 16;

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
        Window w = conv.window();
        boolean isInt8 = conv.weight().type().dtype() == DType.INT8
                && conv.op().rootTypes().get(0).dtype() == DType.INT8;
        boolean runs = w.dilationW() == 1 || w.kernelW() == 1;
        return isInt8
                && conv.groups() == 1
                && !conv.depthwise()
                && conv.channels() >= BLOCK
                && (DspPaddedRows.isNeeded(conv) ? DspPaddedRows.fits(conv) : true)
                && runs;
    }

    @Override
    public Space space(Workload workload, DspRescale rescale) {
        return Space.of(name(), Knob.of("pixels", 2), Knob.of("channel_block", BLOCK), Knob.of("unroll", 4, 8, UNROLL));
    }

    @Override
    public LayerLoops lower(ConvTask task, DspRescale rescale, Configuration configuration) {
        return new DspConv(task, rescale, configuration.number("unroll")).loops(task.rows());
    }

    /** Where size does not count. */
    public Optional<Choice<DspRescale>> choose(Workload workload) {
        Configuration configuration = Configuration.of(name())
                .with("pixels", 2)
                .with("channel_block", BLOCK)
                .with("unroll", UNROLL);
        return workload.isForSize()
                ? Optional.empty()
                : applies(workload).map(rescale -> new Choice<>(this, rescale, configuration, REASON));
    }
}
