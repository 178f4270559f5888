// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.tuning.record.TuningRecord.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    /**
     * An image of candidates, independent of what runs it.
     *
     * @param elf linked for the board that runs it; {@link MeasuringProgram} says what it does
     * @param functions the candidates' functions in the order of their calls
     */
    record CandidateImage(Path elf, List<String> functions) {
        public CandidateImage {
            functions = List.copyOf(functions);
        }
    }

    /**
     * The results of an image of candidates.
     *
     * @param runs of the image's first functions, in order
     * @param failure what happened in the first function without a run; empty if all of them have one
     */
    record CandidateRuns(List<Run> runs, Optional<MeasureError> failure) {
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
}
