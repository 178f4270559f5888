// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.tuning.task.Objective.Metric;
import java.util.List;
import java.util.Set;

/** Measures candidates and holds their answers against the reference interpreter's. */
interface Measurer {
    /** What it can measure. */
    Set<Metric> metrics();

    /** The measurements, one for each candidate in order. Failures of single candidates are measurements, too. */
    List<Measured> measure(List<Candidate> candidates);
}
