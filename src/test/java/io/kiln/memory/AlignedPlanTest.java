// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class AlignedPlanTest {
    @Test
    void paddingForAlignmentIsNotTakenForABadPlan() {
        List<WorkspaceBuffer> buffers = List.of(
                new WorkspaceBuffer("a", 17, 16, 0, 1),
                new WorkspaceBuffer("b", 30, 16, 0, 1),
                new WorkspaceBuffer("c", 5, 16, 1, 2));
        MemoryProblem problem = MemoryPlannerTest.ofLifetimes(buffers);
        MemoryPlan plan = MemoryPlanner.plan(problem);

        assertThat(plan.lowerBound()).isEqualTo(52);
        assertThat(problem.alignedLowerBound()).isEqualTo(65);
        assertThat(plan.bytes()).isEqualTo(65);
    }
}
