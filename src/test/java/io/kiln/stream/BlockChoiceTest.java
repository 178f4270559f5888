// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.Segmentation.Segment;
import io.kiln.stream.StreamPlanner.BlockChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BlockChoiceTest {
    private static RowGraph graph(int... works) {
        List<Node> nodes = new ArrayList<>();
        for (int work : works) {
            nodes.add(new Node(List.of(), nodes.size(), 10, false, 2, new RowGraph.Cost(0, 0, work, 1)));
        }
        return new RowGraph(nodes, List.of(), Map.of());
    }

    private static List<Segment> byRows(RowGraph graph) {
        return List.of(new Segment(0, graph.nodes().size(), true));
    }

    /** Sums up numbers of the nodes that compute blocks. */
    private static int sum(RowGraph graph, int... numbers) {
        return IntStream.range(0, numbers.length)
                .filter(i -> graph.nodes().get(i).block() > 1)
                .map(i -> numbers[i])
                .sum();
    }

    @Test
    void choosesTheSetThatSparesMostWorkOfAllThatFit() {
        Random random = new Random(11);
        for (int round = 0; round < 200; round++) {
            int[] works = random.ints(5, 0, 20).map(work -> 2 * work).toArray();
            int[] bytes = random.ints(5, 1, 20).toArray();
            int limit = random.nextInt(60);
            RowGraph all = graph(works);
            RowGraph chosen = BlockChoice.of(all, byRows(all), some -> sum(some, bytes) <= limit);
            int most = IntStream.range(0, 1 << works.length)
                    .mapToObj(set -> all.inBlocks(i -> (set >> i & 1) != 0))
                    .filter(some -> sum(some, bytes) <= limit)
                    .mapToInt(some -> sum(some, works))
                    .max()
                    .orElseThrow();
            assertThat(sum(chosen, bytes)).as("round %d", round).isLessThanOrEqualTo(limit);
            assertThat(sum(chosen, works)).as("round %d", round).isEqualTo(most);
        }
    }

    @Test
    void operatorsThatRunWholeAreNotTried() {
        RowGraph all = graph(8, 6, 4);
        List<Segment> segments = List.of(new Segment(0, 1, false), new Segment(1, 3, true));
        RowGraph chosen = BlockChoice.of(all, segments, some -> true);
        assertThat(chosen.nodes().stream().map(Node::block)).containsExactly(1, 2, 2);
    }

    @Test
    void ofLongProgramsItTriesABoundedNumberOfSets() {
        RowGraph all = graph(IntStream.range(0, 60).map(i -> 100 + 2 * i).toArray());
        int[] ones = IntStream.generate(() -> 1).limit(60).toArray();
        List<RowGraph> tried = new ArrayList<>();
        RowGraph chosen = BlockChoice.of(all, byRows(all), some -> {
            tried.add(some);
            return sum(some, ones) <= 3;
        });
        assertThat(tried).hasSizeLessThan(100);
        assertThat(sum(chosen, ones)).isEqualTo(3);
    }
}
