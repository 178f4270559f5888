// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.tuning.record.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The results of an image of candidates.
 *
 * @param runs of the image's first functions, in order
 * @param failure what happened in the first function without a run; empty if all of them have one
 */
public record CandidateRuns(List<Run> runs, Optional<MeasureError> failure) {
    public CandidateRuns {
        runs = List.copyOf(runs);
    }

    /**
     * The call of a candidate.
     *
     * @param wrong elements of its answer that differ from the reference interpreter's
     * @param costs what the runner measures
     */
    public record Run(long wrong, Map<Metric, Double> costs) {
        public Run {
            costs = Map.copyOf(costs);
        }
    }
}
