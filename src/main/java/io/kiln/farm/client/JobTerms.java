// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.client;

import io.kiln.farm.desk.Labels;
import java.time.Duration;

/**
 * The terms on which a farm gets jobs.
 *
 * @param patience longest time without any result
 * @param project that shares the farm with others
 * @param priority 0 to 9, the most urgent
 * @param needs labels of the workers that may have the jobs
 * @param version of this Kiln
 */
public record JobTerms(Duration patience, String project, int priority, Labels needs, String version) {
    /** The priority of a goal's jobs, if the user does not say: what a developer waits for comes before a search that takes a night. */
    public static int usual(String goal) {
        return goal.equals("tune") ? 2 : 4;
    }

    public JobTerms with(Labels others) {
        return new JobTerms(patience, project, priority, others, version);
    }

    /** Most urgent priority that a job may have. */
    public static final int MOST = 9;
}
