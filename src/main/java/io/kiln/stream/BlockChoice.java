// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.stream.RowGraph.Node;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Chooses which operators compute rows in blocks if there is not enough memory for all of them: those that save the
 * most work together. Searches over sets, operators with the largest savings first; a set that does not fit is dropped
 * with all its supersets, and so is one that cannot become better than the best known.
 */
final class BlockChoice {
    /** Limit of the sets that are tried, each of which is simulated and placed. */
    private static final int MOST_TRIED = 48;

    private final RowGraph graph;
    private final Predicate<RowGraph> fits;
    private final List<Integer> candidates;
    private final BitSet chosen = new BitSet();
    private BitSet best = new BitSet();
    private long bestGain;
    private int tried;

    private BlockChoice(RowGraph graph, List<Segment> segments, Predicate<RowGraph> fits) {
        this.graph = graph;
        this.fits = fits;
        this.candidates = segments.stream()
                .filter(Segment::byRows)
                .flatMapToInt(segment -> IntStream.range(segment.first(), segment.end()))
                .filter(node -> graph.nodes().get(node).block() > 1)
                .boxed()
                .sorted(Comparator.comparingLong((Integer node) -> -gain(node)))
                .toList();
    }

    /**
     * The graph in which the chosen operators compute blocks and all others row by row.
     *
     * @param segments the segments that run by rows
     * @param fits whether a graph with some of the blocks needs little enough memory
     */
    static RowGraph of(RowGraph graph, List<Segment> segments, Predicate<RowGraph> fits) {
        BlockChoice choice = new BlockChoice(graph, segments, fits);
        choice.search(0, 0);
        return choice.graph(choice.best);
    }

    /** Saving by computing in blocks: a share of the work that grows with the rows of a block. */
    private long gain(int index) {
        Node node = graph.nodes().get(index);
        return node.work() / node.block() * (node.block() - 1);
    }

    private void search(int at, long gain) {
        if (gain > bestGain) {
            bestGain = gain;
            best = (BitSet) chosen.clone();
        }
        long possible = gain;
        for (int node : candidates.subList(at, candidates.size())) {
            possible += gain(node);
        }
        for (int i = at; i < candidates.size() && possible > bestGain && tried < MOST_TRIED; i++) {
            int node = candidates.get(i);
            chosen.set(node);
            tried++;
            if (fits.test(graph(chosen))) {
                search(i + 1, gain + gain(node));
            }
            chosen.clear(node);
            possible -= gain(node);
        }
    }

    private RowGraph graph(BitSet inBlocks) {
        return graph.inBlocks(inBlocks::get);
    }
}
