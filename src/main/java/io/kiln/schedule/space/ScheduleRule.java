// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.Optional;

/** Decides, if there is no measurement, when a schedule is chosen, in which configuration and why. */
@FunctionalInterface
public interface ScheduleRule {
    /** The choice for a layer, if the rule accepts its schedule. */
    Optional<? extends Choice<?>> choose(Workload workload);
}
