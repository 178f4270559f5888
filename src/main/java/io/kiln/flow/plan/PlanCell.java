// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import io.kiln.farm.desk.Labels;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.report.PlanReport.Cell;
import io.kiln.report.PlanReport.Result;
import java.util.Locale;
import java.util.Optional;

/**
 * A model on a board that a plan asks for.
 *
 * @param model the model
 * @param board id of the board, or the pattern that nothing matches
 * @param on where the image runs
 * @param unit the single board of a farm, as {@code WORKER/PROBE}; empty for any
 * @param needs labels of the farm's boards
 * @param missing what becomes of it if there is no such board
 */
record PlanCell(ModelSource model, String board, VerifyOn on, String unit, Labels needs, Optional<Missing> missing) {
    /**
     * Why there is no board.
     *
     * @param result failed or skipped
     */
    record Missing(Result result, String reason) {}

    /** The board for people. */
    String shown() {
        return board + " (" + on.name().toLowerCase(Locale.ROOT)
                + (unit.isEmpty() ? "" : " " + unit)
                + (needs.values().isEmpty() || !unit.isEmpty() ? "" : ", " + needs.text()) + ")";
    }

    /** The cell without a run. */
    Cell without(Missing why) {
        return Cell.without(model.name(), shown(), why.result(), why.reason());
    }
}
