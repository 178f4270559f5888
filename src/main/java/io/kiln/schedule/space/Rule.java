// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import java.util.Optional;

/** When a schedule is taken, in which configuration and why, where nobody measured. */
@FunctionalInterface
public interface Rule {
    /** The choice for a layer, if the rule takes its schedule. */
    Optional<? extends Choice<?>> choose(Workload workload);
}
