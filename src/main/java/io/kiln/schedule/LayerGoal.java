// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.target.InstructionCache;
import java.util.Optional;

/** What the schedule of a single layer is chosen for. */
public enum LayerGoal {
    /** The fewest cycles. */
    SPEED(Optimize.SPEED),
    /** The fewest cycles with loops of at most {@value #SHORT_BYTES} bytes, or what the core's cache takes if that is less. */
    SHORT(Optimize.SPEED),
    /** The fewest cycles with little scratch. */
    RAM(Optimize.RAM),
    /** The fewest bytes of code, most of which layers share. */
    SIZE(Optimize.SIZE);

    private static final int SHORT_BYTES = 1024;
    private static final int LINE_BYTES = 32;

    private final Optimize optimize;

    LayerGoal(Optimize optimize) {
        this.optimize = optimize;
    }

    /** The goal of all layers in a build that optimizes for something. */
    public static LayerGoal of(Optimize optimize) {
        return switch (optimize) {
            case SPEED -> SPEED;
            case SIZE -> SIZE;
            case RAM -> RAM;
        };
    }

    /** The goal's name for people and in files. */
    public String text() {
        return ParameterValue.text(this);
    }

    /** A layer with this goal on a core. */
    Workload workload(ConvComputation conv, Rows rows, CpuFeatures features) {
        boolean isShortened = this == SHORT
                && features.cache()
                        .filter(cache -> cache.bytes() <= SHORT_BYTES)
                        .isEmpty();
        CpuFeatures core = isShortened
                ? new CpuFeatures(
                        features.family(),
                        features.bits(),
                        features.features(),
                        Optional.of(new InstructionCache(SHORT_BYTES, LINE_BYTES)))
                : features;
        return new Workload(conv, rows, core, optimize);
    }
}
