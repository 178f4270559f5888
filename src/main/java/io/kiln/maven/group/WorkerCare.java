// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.flow.spec.WorkerSpec.Care;
import java.time.Duration;
import java.util.Optional;

/** {@code <worker>}: who a worker is, and how it cares for its jobs and boards. */
public final class WorkerCare {
    private static final Element NAME = Element.of(
            "name", "The worker's name, unique in the farm. If not set, the computer's name and the process id.");
    private static final Element DRAIN =
            Element.of("drain", "45", "Seconds for which jobs that run may go on when the worker is told to end.");
    private static final Element POWER = Element.of(
            "power",
            "Command that cycles the power of a board that fails, such as cycle.sh {probe}. Its words are separated by"
                    + " spaces; there is no shell.");

    public static final ParameterGroup GROUP = new ParameterGroup("worker", NAME, DRAIN, POWER);

    private WorkerCare() {}

    /** The name, if one is set. */
    public static Optional<String> name(GroupValues values) {
        return values.find(NAME);
    }

    /** How the worker cares for its jobs and boards. */
    public static Care care(GroupValues values, String openOcd) {
        return new Care(
                openOcd,
                Duration.ofSeconds(Math.max(0, values.small(DRAIN))),
                values.find(POWER).filter(line -> !line.isBlank()));
    }
}
