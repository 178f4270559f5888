// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import java.util.HashMap;
import java.util.Map;

/**
 * Shares workers' time between projects: each has a clock of the seconds that workers spent on it, and the one that is behind comes first. A project
 * that has had no jobs for a while cannot save up time.
 */
final class FairShares {
    /** Seconds for which a job counts until it is done. */
    static final double FIRST_GUESS = 1;

    private static final int MOST = 1000;

    private final Map<String, Double> clocks = new HashMap<>();
    private final Map<String, Integer> jobs = new HashMap<>();

    /** A project has another job. */
    void join(String project) {
        if (jobs.merge(project, 1, Integer::sum) > 1) {
            return;
        }
        double least = jobs.keySet().stream()
                .filter(other -> !other.equals(project))
                .mapToDouble(this::clock)
                .min()
                .orElse(0);
        if (clocks.size() > MOST) {
            clocks.keySet().retainAll(jobs.keySet());
        }
        clocks.merge(project, least, Math::max);
    }

    /** A project has a job less. */
    void leave(String project) {
        jobs.computeIfPresent(project, (name, count) -> count > 1 ? count - 1 : null);
    }

    double clock(String project) {
        return clocks.getOrDefault(project, 0.0);
    }

    void taken(String project) {
        clocks.merge(project, FIRST_GUESS, Double::sum);
    }

    void done(String project, double seconds) {
        clocks.merge(project, Math.max(0, seconds - FIRST_GUESS), Double::sum);
    }
}
