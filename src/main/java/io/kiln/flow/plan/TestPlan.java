// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import io.kiln.farm.desk.Labels;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import java.util.List;

/**
 * A test plan, described by {@code toolchains/schemas/plan.schema.json}.
 *
 * @param title for people
 * @param models that it names; empty for those of the build
 * @param runs what is verified
 */
record TestPlan(String title, List<ModelSource> models, List<Run> runs) {
    TestPlan {
        models = List.copyOf(models);
        runs = List.copyOf(runs);
    }

    /** What becomes of several boards that match. */
    enum Match {
        /** Each id is built and verified. */
        EVERY,
        /** One of them is. */
        ANY,
        /** Each single board of a farm is flashed and verified. */
        UNITS
    }

    /**
     * Models on boards.
     *
     * @param where it stands in the file
     * @param models names or patterns
     * @param boards ids or patterns
     * @param on {@link VerifyOn#EMULATOR} or {@link VerifyOn#BOARD}
     * @param needs labels that a farm's boards must have
     * @param match what becomes of several
     * @param isOptional whether nothing need match
     */
    record Run(
            String where,
            List<String> models,
            List<String> boards,
            VerifyOn on,
            Labels needs,
            Match match,
            boolean isOptional) {
        Run {
            models = List.copyOf(models);
            boards = List.copyOf(boards);
        }
    }
}
