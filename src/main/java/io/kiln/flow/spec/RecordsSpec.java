// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.KilnException;
import io.kiln.base.incremental.NoInput;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The tuning records that a build follows.
 *
 * @param own log of tuning records; empty for the board's own in the project, if there is one
 * @param shared logs of packaging {@code tuning-records}, or folders of logs that will be packed into one
 * @param isForInstructions whether only records count that were searched for few instructions, among those that were searched for speed
 */
public record RecordsSpec(
        @NoInput(because = "the log that is followed is an input itself, also where none is named")
        Optional<Path> own,

        @NoInput(because = "their records are an input, which is the same for a folder and for the log packed from it")
        List<Path> shared,

        boolean isForInstructions) {
    /** The usual records: the board's own in the project. */
    public static final RecordsSpec USUAL = new RecordsSpec(Optional.empty(), List.of(), false);

    public RecordsSpec {
        shared = List.copyOf(shared);
    }

    /**
     * Reads the parameters.
     *
     * @param objective value of {@code kiln.tune.objective}; empty if it is not set
     * @throws KilnException if it is not an objective
     */
    public static RecordsSpec of(Optional<Path> own, List<Path> shared, Optional<String> objective) {
        return new RecordsSpec(own, shared, objective.map(Objective::parse).equals(Optional.of(Metric.INSTRUCTIONS)));
    }

    public RecordsSpec with(Path log) {
        return new RecordsSpec(Optional.of(log), shared, isForInstructions);
    }

    /** What is minimised by the records that come with Kiln. */
    public Metric speed() {
        return isForInstructions ? Metric.INSTRUCTIONS : Metric.CYCLES;
    }
}
