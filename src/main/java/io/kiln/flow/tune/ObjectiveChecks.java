// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.tuning.task.Objective;
import io.kiln.tuning.task.Objective.Metric;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Refuses objectives for which a search would be in vain. */
final class ObjectiveChecks {
    private static final String PARAMETER = "kiln.tune.objective";

    private ObjectiveChecks() {}

    /** Requires an objective that builds follow; otherwise a search finds what no build uses. */
    static void requireFollowed(Objective objective, Optimize optimize) {
        if (objective.isFollowed(optimize)) {
            return;
        }
        List<String> others = Stream.of(Optimize.values())
                .filter(objective::isFollowed)
                .map(other -> "kiln.optimize=" + other.text())
                .toList();
        String followed = Stream.of(Metric.values())
                .filter(metric -> metric.isFollowed(optimize))
                .map(Objective::text)
                .toList()
                .toString();
        throw new KilnException(Failure.TUNE.problem(
                "builds with kiln.optimize=" + optimize.text() + " follow no records of " + objective.text(),
                PARAMETER,
                "one of " + followed + ", or several with weights",
                "Set " + String.join(" or ", others)));
    }

    /**
     * Requires that what the objective compares is measured.
     *
     * @param metrics what is measured
     */
    static void requireMeasured(Objective objective, Set<Metric> metrics, boolean isOnBoard) {
        if (!metrics.containsAll(objective.metrics())) {
            throw new KilnException(Failure.TUNE.problem(
                    (isOnBoard ? "the board" : "the emulator") + " does not measure " + objective.text(),
                    PARAMETER,
                    "some of " + metrics.stream().map(Objective::text).sorted().toList(),
                    "Set kiln.tune.objective=" + (isOnBoard ? "time" : "instructions")));
        }
    }
}
