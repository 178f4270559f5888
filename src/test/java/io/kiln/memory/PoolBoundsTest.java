// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Plans of a workspace that lies in several pools. */
final class PoolBoundsTest {
    @Test
    void noBufferCrossesTheBoundOfAPool() {
        Random random = new Random(9);
        for (int round = 0; round < 120; round++) {
            List<WorkspaceBuffer> buffers = MemoryPlannerTest.randomBuffers(random, 1 + random.nextInt(40));
            PoolBounds pools = PoolBounds.of(List.of(
                    OptionalLong.of(random.nextInt(500)), OptionalLong.of(random.nextInt(5000)), OptionalLong.empty()));
            MemoryProblem problem = MemoryProblem.ofLifetimes(buffers).in(pools);
            MemoryPlan plan = MemoryPlanner.plan(problem);

            MemoryPlannerTest.assertSound(problem, plan, WorkspaceBuffer::livesWith);
            for (WorkspaceBuffer buffer : buffers) {
                long offset = plan.offset(buffer.name());
                if (buffer.bytes() > 0) {
                    assertThat(pools.poolOf(offset + buffer.bytes() - 1)).isEqualTo(pools.poolOf(offset));
                }
            }
        }
    }

    @Test
    void poolsAreFilledInTheirOrder() {
        PoolBounds pools = PoolBounds.of(List.of(OptionalLong.of(130), OptionalLong.of(64)));
        MemoryPlan plan = MemoryPlanner.plan(MemoryProblem.ofLifetimes(List.of(
                        new WorkspaceBuffer("large", 100, 4, 0, 1),
                        new WorkspaceBuffer("middle", 50, 4, 0, 1),
                        new WorkspaceBuffer("small", 20, 4, 0, 1)))
                .in(pools));

        assertThat(pools.end()).hasValue(128 + 64);
        assertThat(List.of(plan.offset("large"), plan.offset("middle"), plan.offset("small")))
                .containsExactly(0L, 128L, 100L);
        assertThat(plan.bytes()).isEqualTo(178);
    }
}
