// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.memory.MemoryPlanner.FirstFitOrder;
import io.kiln.memory.MemoryPlanner.Placement;
import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MemoryPlannerTest {
    @Test
    void nothingToPlaceNeedsNothing() {
        MemoryPlan plan = MemoryPlanner.plan(ofLifetimes(List.of()));

        assertThat(plan.bytes()).isZero();
        assertThat(plan.offsets()).isEmpty();
    }

    @Test
    void aChainReusesWhatIsDead() {
        MemoryPlan plan = MemoryPlanner.plan(ofLifetimes(List.of(
                new WorkspaceBuffer("a", 100, 1, 0, 1),
                new WorkspaceBuffer("b", 50, 1, 1, 2),
                new WorkspaceBuffer("c", 100, 1, 2, 3))));

        assertThat(plan.bytes()).isEqualTo(150);
        assertThat(plan.offset("a")).isEqualTo(plan.offset("c"));
        assertThatThrownBy(() -> plan.offset("d")).hasMessageContaining("`d`");
    }

    @Test
    void fillsAGapThatStackingLeavesOpen() {
        // The long-lived middle buffer leaves room below it that only a search through gaps finds.
        MemoryPlan plan = MemoryPlanner.plan(ofLifetimes(List.of(
                new WorkspaceBuffer("early", 64, 4, 0, 1),
                new WorkspaceBuffer("long", 32, 4, 1, 5),
                new WorkspaceBuffer("mid", 64, 4, 2, 3),
                new WorkspaceBuffer("late", 60, 4, 4, 5))));

        assertThat(plan.bytes()).isEqualTo(96);
    }

    @Test
    void anEmptyBufferTakesNoPlace() {
        MemoryPlan plan = MemoryPlanner.plan(ofLifetimes(
                List.of(new WorkspaceBuffer("none", 0, 16, 0, 9), new WorkspaceBuffer("some", 8, 4, 0, 9))));

        assertThat(plan.bytes()).isEqualTo(8);
        assertThat(plan.offset("none")).isZero();
        assertThat(plan.alignment()).isEqualTo(16);
    }

    @Test
    void refusesNonsense() {
        assertThatThrownBy(() -> new WorkspaceBuffer("x", -1, 4, 0, 1)).hasMessageContaining("-1 bytes");
        assertThatThrownBy(() -> new WorkspaceBuffer("x", 1, 3, 0, 1)).hasMessageContaining("alignment 3");
        assertThatThrownBy(() -> new WorkspaceBuffer("x", 1, 4, 2, 1)).hasMessageContaining("step 2 to step 1");
        WorkspaceBuffer buffer = new WorkspaceBuffer("x", 1, 4, 0, 1);
        assertThatThrownBy(() -> ofLifetimes(List.of(buffer, buffer)))
                .hasMessageContaining("two buffers are named `x`");
    }

    @Test
    void randomProblemsGetSoundPlans() {
        Random random = new Random(7);
        for (int round = 0; round < 120; round++) {
            MemoryProblem problem = ofLifetimes(randomBuffers(random, 1 + random.nextInt(40)));
            MemoryPlan plan = MemoryPlanner.plan(problem);

            assertSound(problem, plan, MemoryPlannerTest::liveTogether);
            assertThat(plan.lowerBound()).isEqualTo(peak(problem.buffers()));
            assertThat(MemoryPlanner.plan(problem)).isEqualTo(plan);
        }
    }

    @Test
    void randomConflictRelationsGetSoundPlans() {
        Random random = new Random(8);
        for (int round = 0; round < 100; round++) {
            int seed = random.nextInt();
            BiPredicate<WorkspaceBuffer, WorkspaceBuffer> conflict = (a, b) ->
                    liveTogether(a, b) && ((a.name().hashCode() ^ b.name().hashCode()) * 31 + seed) % 4 != 0;
            MemoryProblem problem = ofConflicts(randomBuffers(random, 1 + random.nextInt(30)), conflict);

            assertSound(problem, MemoryPlanner.plan(problem), conflict);
        }
    }

    /** Small enough to try every order of stacking, which holds a best plan. */
    @Test
    void smallProblemsAreSolvedExactly() {
        Random random = new Random(9);
        for (int round = 0; round < 150; round++) {
            MemoryProblem problem = ofLifetimes(randomBuffers(random, 1 + random.nextInt(6)));

            assertThat(MemoryPlanner.plan(problem).bytes()).isEqualTo(bestOfAllOrders(problem));
        }
    }

    /** Each consumes the one before from the front and may begin 10 bytes below it: a staircase of 10 bytes a step. */
    @Test
    void buffersThatFollowEachOtherShareAllButTheirLead() {
        List<WorkspaceBuffer> buffers = IntStream.range(0, 6)
                .mapToObj(i -> new WorkspaceBuffer("b" + i, 100, 1, i, i + 1))
                .toList();
        MemoryProblem problem = MemoryProblem.ofDistances(
                buffers, 110, allPairs(buffers), (a, b) -> b == a + 1 ? lead(10) : Distances.none());
        MemoryPlan plan = MemoryPlanner.plan(problem);

        assertThat(plan.bytes()).isEqualTo(150);
        assertThat(plan.lowerBound()).isEqualTo(110);
    }

    @Test
    void aBufferMayLieBetweenTheLiveRowsOfAnother() {
        // Bytes 40 to 60 of the large one are dead when the small one of 20 bytes is alive.
        Distances.Builder hole = new Distances.Builder();
        hole.together(0, 40, 0, 20);
        hole.together(60, 100, 0, 20);
        Distances distances = hole.build();
        List<WorkspaceBuffer> buffers =
                List.of(new WorkspaceBuffer("large", 100, 4, 0, 3), new WorkspaceBuffer("small", 20, 4, 1, 1));
        MemoryPlan plan =
                MemoryPlanner.plan(MemoryProblem.ofDistances(buffers, 100, allPairs(buffers), (a, b) -> distances));

        assertThat(plan.bytes()).isEqualTo(100);
        assertThat(plan.offset("small") - plan.offset("large")).isEqualTo(40);
    }

    /** Buffers that are alive at the same step must not share a byte. */
    static MemoryProblem ofLifetimes(List<WorkspaceBuffer> buffers) {
        return ofConflicts(buffers, MemoryPlannerTest::liveTogether);
    }

    static boolean liveTogether(WorkspaceBuffer a, WorkspaceBuffer b) {
        return a.firstUse() <= b.lastUse() && b.firstUse() <= a.lastUse();
    }

    /** Buffers for which the relation holds must not share a byte. */
    private static MemoryProblem ofConflicts(
            List<WorkspaceBuffer> buffers, BiPredicate<WorkspaceBuffer, WorkspaceBuffer> conflict) {
        MemoryProblem.Pairs pairs = all -> allPairs(buffers).forEach((i, k) -> {
            if (conflict.test(buffers.get(i), buffers.get(k))) {
                all.accept(i, k);
            }
        });
        return MemoryProblem.ofDistances(
                buffers,
                0,
                pairs,
                (i, k) -> Distances.apart(buffers.get(i).bytes(), buffers.get(k).bytes()));
    }

    private static MemoryProblem.Pairs allPairs(List<WorkspaceBuffer> buffers) {
        return pairs -> IntStream.range(0, buffers.size())
                .forEach(i -> IntStream.range(i + 1, buffers.size()).forEach(k -> pairs.accept(i, k)));
    }

    /** The second may lie at least so many bytes below the first, or above it. */
    private static Distances lead(long bytes) {
        Distances.Builder builder = new Distances.Builder();
        for (long row = 0; row < 100; row += bytes) {
            builder.together(row, 100, 0, row + bytes);
        }
        return builder.build();
    }

    @Test
    void randomDistancesGetSoundPlans() {
        Random random = new Random(10);
        for (int round = 0; round < 60; round++) {
            List<WorkspaceBuffer> buffers = randomBuffers(random, 1 + random.nextInt(12));
            Distances[][] distances = new Distances[buffers.size()][buffers.size()];
            for (int i = 0; i < buffers.size(); i++) {
                for (int k = i + 1; k < buffers.size(); k++) {
                    distances[i][k] = randomDistances(
                            random, buffers.get(i).bytes(), buffers.get(k).bytes());
                }
            }
            MemoryProblem problem = MemoryProblem.ofDistances(buffers, 0, allPairs(buffers), (a, b) -> distances[a][b]);
            MemoryPlan plan = MemoryPlanner.plan(problem);

            assertThat(plan.bytes()).isLessThanOrEqualTo(MemoryPlanner.firstFit(problem));
            for (int i = 0; i < buffers.size(); i++) {
                long offset = plan.offset(buffers.get(i).name());
                assertThat(offset).isNotNegative();
                assertThat(offset % buffers.get(i).alignment()).isZero();
                assertThat(offset + buffers.get(i).bytes()).isLessThanOrEqualTo(plan.bytes());
                for (int k = i + 1; k < buffers.size(); k++) {
                    long other = plan.offset(buffers.get(k).name());
                    assertThat(distances[i][k].forbid(offset, other)).isFalse();
                }
            }
        }
    }

    private static Distances randomDistances(Random random, long bytes, long otherBytes) {
        Distances.Builder builder = new Distances.Builder();
        for (int i = random.nextInt(4); i > 0 && bytes > 0 && otherBytes > 0; i--) {
            long begin = random.nextInt((int) bytes);
            long otherBegin = random.nextInt((int) otherBytes);
            builder.together(
                    begin,
                    begin + 1 + random.nextInt((int) (bytes - begin)),
                    otherBegin,
                    otherBegin + 1 + random.nextInt((int) (otherBytes - otherBegin)));
        }
        return builder.build();
    }

    @Test
    void mobileNetMeetsItsLowerBound() {
        int[] elements = {
            150528, 401408, 401408, 802816, 200704, 401408, 401408, 401408, 100352, 200704, 200704, 200704, 50176,
                    100352,
            100352, 100352, 100352, 100352, 100352, 100352, 100352, 100352, 100352, 100352, 25088, 50176, 50176, 50176,
            1024, 1001
        };
        List<WorkspaceBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < elements.length; i++) {
            buffers.add(new WorkspaceBuffer("sid_" + i, elements[i], 16, i, i + 1));
            buffers.add(new WorkspaceBuffer("scratch_" + i, 512L * (i % 5), 16, i + 1, i + 1));
        }
        MemoryPlan plan = MemoryPlanner.plan(ofLifetimes(buffers));

        assertThat(plan.lowerBound()).isEqualTo(peak(buffers));
        assertThat(plan.bytes()).isEqualTo(plan.lowerBound());
    }

    @Test
    @Timeout(60)
    void tenThousandBuffersGetASoundPlan() {
        Random random = new Random(3);
        List<WorkspaceBuffer> buffers = IntStream.range(0, 10_000)
                .mapToObj(
                        i -> new WorkspaceBuffer("b" + i, 16 + random.nextInt(4096), 16, i, i + 1 + random.nextInt(3)))
                .toList();
        MemoryProblem problem = ofLifetimes(buffers);
        MemoryPlan plan = MemoryPlanner.plan(problem);

        assertSound(problem, plan, MemoryPlannerTest::liveTogether);
    }

    static void assertSound(
            MemoryProblem problem, MemoryPlan plan, BiPredicate<WorkspaceBuffer, WorkspaceBuffer> conflict) {
        List<WorkspaceBuffer> buffers = problem.buffers();
        long top = 0;
        for (int i = 0; i < buffers.size(); i++) {
            WorkspaceBuffer a = buffers.get(i);
            long offset = plan.offset(a.name());
            assertThat(offset % a.alignment()).isZero();
            assertThat(offset).isNotNegative();
            top = Math.max(top, offset + a.bytes());
            for (int k = i + 1; k < Math.min(buffers.size(), i + 100); k++) {
                WorkspaceBuffer b = buffers.get(k);
                long other = plan.offset(b.name());
                if (conflict.test(a, b) && offset + a.bytes() > other && other + b.bytes() > offset) {
                    Assertions.fail(a + " at " + offset + " overlaps " + b + " at " + other);
                }
            }
        }
        assertThat(plan.bytes()).isEqualTo(top).isGreaterThanOrEqualTo(plan.lowerBound());
        Placement placement = new Placement(problem);
        for (FirstFitOrder order : FirstFitOrder.values()) {
            assertThat(plan.bytes()).isLessThanOrEqualTo(placement.place(order.order(problem)));
        }
    }

    static List<WorkspaceBuffer> randomBuffers(Random random, int count) {
        int steps = 1 + random.nextInt(count + 2);
        return IntStream.range(0, count)
                .mapToObj(i -> {
                    int first = random.nextInt(steps);
                    int last = Math.min(steps, first + random.nextInt(1 + random.nextInt(6)));
                    return new WorkspaceBuffer("b" + i, random.nextInt(200), 1 << random.nextInt(5), first, last);
                })
                .toList();
    }

    private static long peak(List<WorkspaceBuffer> buffers) {
        int last = buffers.stream().mapToInt(WorkspaceBuffer::lastUse).max().orElse(0);
        return IntStream.rangeClosed(0, last)
                .mapToLong(step -> buffers.stream()
                        .filter(b -> b.firstUse() <= step && step <= b.lastUse())
                        .mapToLong(WorkspaceBuffer::bytes)
                        .sum())
                .max()
                .orElse(0);
    }

    private static long bestOfAllOrders(MemoryProblem problem) {
        return best(problem, new ArrayList<>(), new Placement(problem));
    }

    private static long best(MemoryProblem problem, List<Integer> order, Placement placement) {
        if (order.size() == problem.size()) {
            return placement.place(order.stream().mapToInt(Integer::intValue).toArray());
        }
        long best = Long.MAX_VALUE;
        for (int i = 0; i < problem.size(); i++) {
            if (!order.contains(i)) {
                order.add(i);
                best = Math.min(best, best(problem, order, placement));
                order.remove(order.size() - 1);
            }
        }
        return best;
    }
}
