// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.tuning.record.MeasureError;
import io.kiln.tuning.task.Objective.Metric;
import java.util.Map;

/**
 * The measurement of a candidate.
 *
 * @param error how it ended
 * @param metrics what was measured; empty unless it succeeded
 */
record Measured(MeasureError error, Map<Metric, Double> metrics) {
    Measured {
        metrics = Map.copyOf(metrics);
    }

    static Measured failed(MeasureError error) {
        return new Measured(error, Map.of());
    }

    boolean isRight() {
        return error == MeasureError.NONE;
    }
}
