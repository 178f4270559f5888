// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Shares workers' time between projects: each has a clock of the seconds that workers spent on it, and the one that is behind comes first. A project
 * that has had no jobs for a while cannot save up time.
 */
final class FairShares {
    private static final double FIRST_GUESS = 1;
    private static final int MOST = 1000;

    private final Map<String, Double> clocks = new HashMap<>();

    /**
     * Begins a project's activity.
     *
     * @param active projects that have jobs now
     */
    void join(String project, Collection<String> active) {
        double least = active.stream()
                .filter(other -> !other.equals(project))
                .mapToDouble(this::clock)
                .min()
                .orElse(0);
        if (clocks.size() > MOST) {
            clocks.keySet().retainAll(active);
        }
        raise(project, least);
    }

    double clock(String project) {
        return clocks.getOrDefault(project, 0.0);
    }

    /** Has a project wait for others until they have had as much. */
    void raise(String project, double least) {
        clocks.merge(project, least, Math::max);
    }

    void taken(String project) {
        clocks.merge(project, FIRST_GUESS, Double::sum);
    }

    void done(String project, double seconds) {
        clocks.merge(project, Math.max(0, seconds - FIRST_GUESS), Double::sum);
    }
}
