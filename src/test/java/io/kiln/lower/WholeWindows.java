// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Optimize;
import io.kiln.schedule.Dispatch;
import io.kiln.schedule.LayerSchedules;
import io.kiln.schedule.space.Configuration;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import java.util.List;
import java.util.Optional;

/** The kernels for whole windows, which no rule chooses. */
final class WholeWindows {
    static final String FLAG = "whole_windows";

    private WholeWindows() {}

    /** A dispatch for Cortex-M55 that takes them wherever the rules choose a schedule. */
    static Dispatch in(String schedule) {
        return new Dispatch(Target.parse(TestTargets.M55), Optimize.SPEED, List.of(), (op, workload) -> {
            Configuration rule = LayerSchedules.choose(workload).configuration();
            return rule.schedule().equals(schedule)
                    ? LayerSchedules.choice(workload, rule.withFlag(FLAG, true), "tested")
                    : Optional.empty();
        });
    }
}
