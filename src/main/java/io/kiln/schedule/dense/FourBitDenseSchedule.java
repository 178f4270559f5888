// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import io.kiln.ir.op.Window;
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
import java.util.Optional;

/** Dense layers, and convolutions whose window is the whole input, with weights of four bits on cores without vectors, by {@link FourBitDense}. */
public final class FourBitDenseSchedule implements Schedule<ConvComputation> {
    /** Eights of inputs in a turn of the loop. */
    private static final String UNROLL = "unroll";

    private static final int FAST = 4;

    private static final int LEAST_INPUTS = 8;

    /** Up to here, 256 times the sum of the products of bytes with weights from 0 to 15 fits 32 bits. */
    private static final int MOST_INPUTS = 4096;

    /** Fewer channels do not pay for the sum of the inputs. */
    private static final int LEAST_CHANNELS = 8;

    @Override
    public String name() {
        return "dense_four_bits";
    }

    @Override
    public Optional<ConvComputation> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        return workload.isPlainInt8()
                        && !workload.features().hasMve()
                        && suits(conv)
                        && FourBitWeights.fit(conv)
                        && BiasTable.isFoldedIfFilled(conv)
                ? Optional.of(conv)
                : Optional.empty();
    }

    private static boolean suits(ConvComputation conv) {
        Window w = conv.window();
        return w.kernelH() == conv.input().dim(1)
                && w.kernelW() == conv.input().dim(2)
                && !w.isPadded()
                && conv.groups() == 1
                && !conv.depthwise()
                && conv.kernelZeroPoint() == 0
                && conv.taps() >= LEAST_INPUTS
                && conv.taps() <= MOST_INPUTS;
    }

    @Override
    public Space space(Workload workload, ConvComputation conv) {
        return Space.of(name(), workload.features().hasDsp() ? Knob.of(UNROLL, 1, 2, FAST) : Knob.of(UNROLL, 1));
    }

    @Override
    public LayerLoops lower(ConvTask task, ConvComputation conv, Configuration configuration) {
        return new FourBitDense(task, configuration.number(UNROLL)).loops(task.rows());
    }

    private Configuration configuration(Workload workload) {
        boolean isFast = workload.features().hasDsp() && !workload.isForSize();
        return Configuration.of(name()).with(UNROLL, isFast ? FAST : 1);
    }

    /** Wherever it applies, except for a few channels: half the flash for hardly more time than bytes take. */
    public Optional<Choice<ConvComputation>> choose(Workload workload) {
        return applies(workload)
                .filter(conv -> conv.channels() >= LEAST_CHANNELS)
                .map(conv -> new Choice<>(
                        this, conv, configuration(workload), "two weights to a byte, multiplied where they lie"));
    }
}
