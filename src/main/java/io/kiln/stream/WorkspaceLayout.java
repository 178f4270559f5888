// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.memory.Buffer;
import io.kiln.memory.MemoryPlan;
import io.kiln.memory.MemoryPlanner;
import io.kiln.memory.MemoryProblem;
import io.kiln.stream.StoredValue.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a program's values and scratch lie in the workspace.
 *
 * @param plan offsets by buffer name: {@link #valueName} and {@link #scratchName}
 */
public record WorkspaceLayout(MemoryPlan plan) {
    /** Word alignment, so that kernels may load four int8 at once. */
    private static final int LEAST_ALIGNMENT = 4;

    /**
     * Plans the workspace.
     *
     * @param withInputsAndOutputs whether they lie in the workspace too; inputs then live from before the first step to
     *     their last use, outputs to after the last step
     */
    public static WorkspaceLayout of(Program program, boolean withInputsAndOutputs) {
        List<Buffer> buffers = new ArrayList<>();
        int end = program.steps().size();
        for (StoredValue value : program.values()) {
            if (value.place() == Place.WORKSPACE || withInputsAndOutputs) {
                int last = value.place() == Place.OUTPUT ? end : value.lastStep();
                int alignment = Math.max(LEAST_ALIGNMENT, value.type().dtype().bytes());
                buffers.add(
                        new Buffer(valueName(value.id()), value.type().bytes(), alignment, value.firstStep(), last));
            }
        }
        for (int step = 0; step < end; step++) {
            if (program.steps().get(step) instanceof Step.Run run
                    && run.operator().scratchBytes() > 0) {
                buffers.add(
                        new Buffer(scratchName(step), run.operator().scratchBytes(), 2 * LEAST_ALIGNMENT, step, step));
            }
        }
        return new WorkspaceLayout(MemoryPlanner.plan(MemoryProblem.ofLifetimes(buffers)));
    }

    /** Offset in bytes of a stored value. */
    public long value(int id) {
        return plan.offset(valueName(id));
    }

    /** Offset in bytes of a step's scratch. */
    public long scratch(int step) {
        return plan.offset(scratchName(step));
    }

    /** Name of a stored value's buffer in the plan. */
    public static String valueName(int id) {
        return "value " + id;
    }

    /** Name of a step's scratch in the plan. */
    public static String scratchName(int step) {
        return "scratch " + step;
    }
}
