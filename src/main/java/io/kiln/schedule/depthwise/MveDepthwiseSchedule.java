// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.MveRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.Optional;

/** Depthwise convolutions on MVE, by {@link MveDepthwise}. */
public record MveDepthwiseSchedule(String name) implements Schedule<MveRequantize> {
    /** Larger windows would take too much code: offsets of the words' addresses are immediate. */
    private static final int MOST_PASSES = 24;

    /** Offsets between channels' results are immediate. */
    private static final int MOST_MULTIPLIER = 255;

    @Override
    public Optional<MveRequantize> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = workload.features().hasMve()
                && workload.isPlainInt8()
                && conv.depthwise()
                && MveDepthwise.shape(conv).passes() <= MOST_PASSES
                && MveDepthwise.shape(conv).multiplier() <= MOST_MULTIPLIER;
        return suits
                ? MveRequantize.of(conv)
                        .filter(r -> r.low() <= r.requantization().outputZeroPoint()
                                && r.high() >= r.requantization().outputZeroPoint())
                : Optional.empty();
    }

    private static int words(ConvComputation conv) {
        return new MveInterleaved(conv, 1).words();
    }

    @Override
    public Space space(Workload workload, MveRequantize rescale) {
        Knob kept = canKeep(workload.conv()) ? Knob.of("kept_weights", false, true) : Knob.of("kept_weights", false);
        return Space.of(name(), Knob.of("words", words(workload.conv())), kept);
    }

    @Override
    public LayerLoops lower(ConvTask task, MveRequantize rescale, Configuration configuration) {
        boolean isKept =
                configuration.value("kept_weights").filter("true"::equals).isPresent();
        return new MveDepthwise(task, rescale, isKept).loops();
    }

    /** Wherever it applies. */
    public Optional<Choice<MveRequantize>> choose(Workload workload) {
        return applies(workload).map(rescale -> {
            Configuration configuration = Configuration.of(name())
                    .with("words", words(workload.conv()))
                    .with("kept_weights", Boolean.toString(keeps(workload.conv())));
            String reason = "a channel's window gathered and multiplied at once (MVE), exact in 32 bits";
            return new Choice<>(this, rescale, configuration, reason);
        });
    }

    /** Whether weights stay in registers for a row of pixels if there is no measurement. */
    static boolean keeps(ConvComputation conv) {
        return canKeep(conv) && !isNarrow(conv);
    }

    /** Whether the registers are enough for a window's weights. */
    private static boolean canKeep(ConvComputation conv) {
        return MveDepthwise.shape(conv).fitsRegisters();
    }

    /** Counted: four channels of a row cost 60 cycles and 22 for each further pixel if weights are kept, else 46 for each pixel. */
    private static boolean isNarrow(ConvComputation conv) {
        return conv.output().dim(2) == 1;
    }
}
