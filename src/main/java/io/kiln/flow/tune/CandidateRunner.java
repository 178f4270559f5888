// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.tuning.task.Objective.Metric;
import java.util.Set;

/** Runs images of candidates, in an emulator or on a board. */
public interface CandidateRunner {
    /** The quantities measured for each call. */
    Set<Metric> metrics();

    /**
     * Runs an image once.
     *
     * @throws io.kiln.base.KilnException if nothing can be said about any of its candidates
     */
    CandidateRuns run(CandidateImage image);
}
