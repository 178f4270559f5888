// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.base.Optimize;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.memory.MemoryPlanner;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Decides which operators run whole and which row by row, and where everything lies. {@link Optimize#SIZE} runs all of them
 * whole; {@link Optimize#RAM} takes the segments that need the least memory; {@link Optimize#SPEED} those with the fewest calls
 * that need little more, and lets operators compute as many rows at once as they like best.
 */
public final class StreamPlanner {
    /** What speed may cost in memory: a tenth, and so many bytes for rows that are computed together. */
    private static final int PERCENT_FOR_SPEED = 110;

    private static final long BYTES_FOR_SPEED = 2_048;

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
        long limit = bytes(least) * PERCENT_FOR_SPEED / 100 + BYTES_FOR_SPEED;
        for (RowGraph candidate : inFewerAndFewerBlocks()) {
            Segmentation search = Segmentation.of(candidate, withInputsAndOutputs);
            long lowest = search.leastBytes();
            for (long budget : List.of(limit, (limit + lowest) / 2, lowest)) {
                Cut cut = new Cut(candidate, search.fewestCalls(budget));
                if (lowest <= budget && bytes(cut) <= limit) {
                    return cut;
                }
            }
        }
        return least;
    }

    /** All blocks that operators like; without those that widen windows; shorter ones; none. */
    private List<RowGraph> inFewerAndFewerBlocks() {
        return Stream.of(
                        graph,
                        graph.inBlocks(Integer.MAX_VALUE, RowGraph.Node::readsTheSameRow),
                        graph.inBlocks(2, node -> true),
                        graph.inBlocks(2, RowGraph.Node::readsTheSameRow),
                        graph.stepByStep())
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
