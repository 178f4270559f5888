// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.target.CpuFeatures;

/** What rules choose for layers, without the loops and the kernels: printing those takes most of a lowering. */
public final class ScheduleNames {
    private ScheduleNames() {}

    /**
     * The schedule that a layer is lowered with, as {@link io.kiln.lower.LoweredOperator#schedule()} names it.
     *
     * @param op an operator that has a {@linkplain Dispatch#hasChoice choice}
     * @param conv what it computes
     */
    public static String of(FusedOperator op, ConvComputation conv, CpuFeatures features, Optimize optimize) {
        Rows rows = Rows.whole(op.type().shape());
        return LayerSchedules.choose(LayerGoal.of(optimize).workload(conv, rows, features))
                .configuration()
                .text();
    }
}
