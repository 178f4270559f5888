// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.base.Optimize;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.memory.MemoryPlanner;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides which operators run whole and which row by row, and where everything lies. {@link Optimize#SIZE} runs all of them
 * whole; {@link Optimize#RAM} takes the segments that need the least memory; {@link Optimize#SPEED} those with the fewest calls
 * that need little more, and lets as many operators as fit compute as many rows at once as they like best.
 */
public final class StreamPlanner {
    /** What speed may need, of the least memory. */
    private static final int PERCENT_FOR_SPEED = 115;

    private final RowGraph graph;
    private final boolean withInputsAndOutputs;

    private StreamPlanner(RowGraph graph, boolean withInputsAndOutputs) {
        this.graph = graph;
        this.withInputsAndOutputs = withInputsAndOutputs;
    }

    /**
     * Plans a program.
     *
     * @param function the fused function
     * @param operators its groups in order, reshapes left out
     * @param withInputsAndOutputs whether they lie in the workspace too; inputs then live from before the first call to
     *     their last use, row by row, outputs to after the last call
     */
    public static PlannedProgram plan(
            Function function,
            List<FusedOperator> operators,
            Lowering lowering,
            Optimize optimize,
            boolean withInputsAndOutputs) {
        ProgramBuilder builder = new ProgramBuilder(function, operators, lowering, withInputsAndOutputs);
        StreamPlanner planner = new StreamPlanner(builder.graph(), withInputsAndOutputs);
        return builder.build(
                switch (optimize) {
                    case SIZE -> planner.allWhole();
                    case RAM -> planner.leastMemory();
                    case SPEED -> planner.fewestCalls();
                });
    }

    /** Segments of a graph. */
    record Cut(RowGraph graph, List<Segment> segments) {}

    private Cut allWhole() {
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < graph.nodes().size(); i++) {
            segments.add(new Segment(i, i + 1, false));
        }
        return new Cut(graph, segments);
    }

    private Cut leastMemory() {
        RowGraph stepByStep = graph.stepByStep();
        Segmentation search = Segmentation.of(stepByStep, withInputsAndOutputs);
        return new Cut(stepByStep, search.fewestCalls(search.leastBytes()));
    }

    private Cut fewestCalls() {
        Cut least = leastMemory();
        long limit = bytes(least) * PERCENT_FOR_SPEED / 100;
        for (RowGraph candidate : inFewerAndFewerBlocks()) {
            Optional<Cut> cut = fewestCalls(candidate, limit);
            if (cut.isPresent()) {
                return cut.get();
            }
        }
        RowGraph chosen = BlockChoice.of(graph, least.segments, some -> fits(new Cut(some, least.segments), limit));
        return fewestCalls(chosen, limit).orElse(new Cut(chosen, least.segments));
    }

    /** The fewest calls within some bytes, if they suffice. */
    private Optional<Cut> fewestCalls(RowGraph candidate, long limit) {
        Segmentation search = Segmentation.of(candidate, withInputsAndOutputs);
        long lowest = search.leastBytes();
        return Stream.of(limit, (limit + lowest) / 2, lowest)
                .filter(budget -> lowest <= budget)
                .map(budget -> new Cut(candidate, search.fewestCalls(budget)))
                .filter(cut -> bytes(cut) <= limit)
                .findFirst();
    }

    /** Whether some bytes suffice; placed only where neither the bytes alive at once nor a first fit tell. */
    private boolean fits(Cut cut, long bytes) {
        long[] scratch = Segmentation.scratch(cut.graph, cut.segments);
        Liveness liveness = Liveness.of(cut.graph, cut.segments, scratch, withInputsAndOutputs);
        return liveness.peak() <= bytes
                && (MemoryPlanner.firstFit(liveness.problem()) <= bytes
                        || MemoryPlanner.plan(liveness.problem()).bytes() <= bytes);
    }

    /** All blocks that operators like; without those that widen windows; shorter ones. */
    private List<RowGraph> inFewerAndFewerBlocks() {
        return Stream.of(
                        graph,
                        graph.inBlocks(Integer.MAX_VALUE, RowGraph.Node::readsTheSameRow),
                        graph.inBlocks(2, node -> true),
                        graph.inBlocks(2, RowGraph.Node::readsTheSameRow))
                .distinct()
                .toList();
    }

    private long bytes(Cut cut) {
        long[] scratch = Segmentation.scratch(cut.graph, cut.segments);
        return MemoryPlanner.plan(Liveness.of(cut.graph, cut.segments, scratch, withInputsAndOutputs)
                        .problem())
                .bytes();
    }
}
