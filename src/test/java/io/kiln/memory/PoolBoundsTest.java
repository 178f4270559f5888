// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.memory.MemoryProblem.PoolBounds;
import io.kiln.memory.MemoryProblem.PoolChoice;
import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
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
            MemoryProblem problem = MemoryPlannerTest.ofLifetimes(buffers).in(pools, (pool, buffer) -> true);
            MemoryPlan plan = MemoryPlanner.plan(problem);

            MemoryPlannerTest.assertSound(problem, plan, MemoryPlannerTest::liveTogether);
            for (WorkspaceBuffer buffer : buffers) {
                long offset = plan.offset(buffer.name());
                if (buffer.bytes() > 0) {
                    assertThat(pools.poolOf(offset + buffer.bytes() - 1)).isEqualTo(pools.poolOf(offset));
                }
            }
        }
    }

    /** Each buffer may lie in some of four pools only; those without a pool are found behind all of them. */
    @Test
    void everyBufferLiesInAPoolThatMayHoldIt() {
        Random random = new Random(16);
        for (int round = 0; round < 120; round++) {
            List<WorkspaceBuffer> buffers = MemoryPlannerTest.randomBuffers(random, 1 + random.nextInt(40));
            PoolBounds pools = PoolBounds.of(List.of(
                    OptionalLong.of(random.nextInt(2000)),
                    OptionalLong.of(1 << 20),
                    OptionalLong.of(1 << 20),
                    OptionalLong.empty()));
            int seed = random.nextInt();
            // Every second buffer may lie in the last pool, one in eight in none.
            PoolChoice choice = (pool, buffer) ->
                    (new Random(seed + 31L * pool + buffer.name().hashCode()).nextInt(8) & (pool == 3 ? 1 : 3)) != 0;
            MemoryProblem problem = MemoryPlannerTest.ofLifetimes(buffers).in(pools, choice);
            MemoryPlan plan = MemoryPlanner.plan(problem);

            MemoryPlannerTest.assertSound(problem, plan, MemoryPlannerTest::liveTogether);
            for (WorkspaceBuffer buffer : buffers) {
                long offset = plan.offset(buffer.name());
                boolean fitsSomewhere = IntStream.range(1, 4).anyMatch(pool -> choice.mayHold(pool, buffer));
                if (buffer.bytes() > 0 && offset < PoolBounds.NOWHERE) {
                    assertThat(choice.mayHold(pools.poolOf(offset), buffer)).isTrue();
                    assertThat(pools.poolOf(offset + buffer.bytes() - 1)).isEqualTo(pools.poolOf(offset));
                }
                assertThat(offset >= PoolBounds.NOWHERE && fitsSomewhere)
                        .as("%s has no place", buffer.name())
                        .isFalse();
            }
        }
    }

    /** What may lie anywhere makes room for what may not, even if it is larger. */
    @Test
    void aBufferWithoutAChoiceComesFirst() {
        PoolBounds pools = PoolBounds.of(List.of(OptionalLong.of(128), OptionalLong.empty()));
        MemoryPlan plan = MemoryPlanner.plan(MemoryPlannerTest.ofLifetimes(
                        List.of(new WorkspaceBuffer("free", 100, 4, 0, 1), new WorkspaceBuffer("bound", 64, 4, 0, 1)))
                .in(pools, (pool, buffer) -> pool == 0 || buffer.name().equals("free")));

        assertThat(List.of(plan.offset("bound"), plan.offset("free"))).containsExactly(0L, 128L);
    }

    @Test
    void poolsAreFilledInTheirOrder() {
        PoolBounds pools = PoolBounds.of(List.of(OptionalLong.of(130), OptionalLong.of(64)));
        MemoryPlan plan = MemoryPlanner.plan(MemoryPlannerTest.ofLifetimes(List.of(
                        new WorkspaceBuffer("large", 100, 4, 0, 1),
                        new WorkspaceBuffer("middle", 50, 4, 0, 1),
                        new WorkspaceBuffer("small", 20, 4, 0, 1)))
                .in(pools, (pool, buffer) -> true));

        assertThat(pools.end()).hasValue(128 + 64);
        assertThat(List.of(plan.offset("large"), plan.offset("middle"), plan.offset("small")))
                .containsExactly(0L, 128L, 100L);
        assertThat(plan.bytes()).isEqualTo(178);
    }
}
