// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A program and its memory layout.
 *
 * @param layout offsets in the workspace
 */
public record PlannedProgram(Program program, WorkspaceLayout layout) {
    /** Whether another plan calls the same operators for the same rows in the same order, in as much memory. */
    public boolean runsAs(PlannedProgram other) {
        return layout.plan().bytes() == other.layout.plan().bytes() && calls().equals(other.calls());
    }

    private List<String> calls() {
        return program.steps().stream().map(PlannedProgram::text).toList();
    }

    private static String text(Step step) {
        if (step instanceof Step.Run run) {
            return run.operator().function().name();
        }
        if (step instanceof Step.Stream stream) {
            return stream.lanes().stream()
                    .map(lane -> lane.operator().function().name() + " " + lane.rows() + "/" + lane.block())
                    .collect(Collectors.joining(", ", "", " " + stream.order()));
        }
        return step.toString();
    }
}
