// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.base.Optimize;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.memory.MemoryPlanner;
import io.kiln.memory.PoolBounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Decides which operators run whole and which row by row, and plans the memory. {@link Optimize#SIZE} runs all of them
 * whole; {@link Optimize#RAM} takes the segments that need the least memory; {@link Optimize#SPEED} takes those with
 * the fewest calls that need little more, and lets as many operators as fit compute their preferred number of rows at
 * once.
 */
public final class StreamPlanner {
    /** Memory limit for speed, relative to the least memory. */
    private static final int PERCENT_FOR_SPEED = 115;

    private final RowGraph graph;
    private final boolean withInputsAndOutputs;

    private StreamPlanner(RowGraph graph, boolean withInputsAndOutputs) {
        this.graph = graph;
        this.withInputsAndOutputs = withInputsAndOutputs;
    }

    /**
     * Plans a program. Its operators run in the order of the function, or in another one that needs less memory.
     *
     * @param function the fused function
     * @param operators its groups in order, without reshapes
     * @param withInputsAndOutputs whether they lie in the workspace too; inputs then live from before the first call to
     *     their last use, row by row, outputs to after the last call
     * @param pools where its values lie; which operators run row by row is decided as if there were only one pool
     */
    public static PlannedProgram plan(
            Function function,
            List<FusedOperator> operators,
            Lowering lowering,
            Optimize optimize,
            boolean withInputsAndOutputs,
            PoolBounds pools) {
        PlannedProgram natural = inOrder(function, operators, lowering, optimize, withInputsAndOutputs, pools);
        return OperatorOrder.ofLeastPeak(function, operators, withInputsAndOutputs)
                .map(order -> inOrder(function, order, lowering, optimize, withInputsAndOutputs, pools))
                .filter(other ->
                        other.layout().plan().bytes() < natural.layout().plan().bytes())
                .orElse(natural);
    }

    private static PlannedProgram inOrder(
            Function function,
            List<FusedOperator> operators,
            Lowering lowering,
            Optimize optimize,
            boolean withInputsAndOutputs,
            PoolBounds pools) {
        ProgramBuilder builder = new ProgramBuilder(function, operators, lowering, withInputsAndOutputs);
        StreamPlanner planner = new StreamPlanner(builder.graph(), withInputsAndOutputs);
        return builder.build(
                switch (optimize) {
                    case SIZE -> planner.allWhole();
                    case RAM -> planner.leastMemory();
                    case SPEED -> planner.fewestCalls();
                },
                pools);
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

    /** The fewest calls within the limit, if there is a solution. */
    private Optional<Cut> fewestCalls(RowGraph candidate, long limit) {
        Segmentation search = Segmentation.of(candidate, withInputsAndOutputs);
        long lowest = search.leastBytes();
        return Stream.of(limit, (limit + lowest) / 2, lowest)
                .filter(budget -> lowest <= budget)
                .map(budget -> new Cut(candidate, search.fewestCalls(budget)))
                .filter(cut -> fits(cut, limit))
                .findFirst();
    }

    /** Whether the limit suffices; the planner runs only if neither the lower bound nor first fit decides. */
    private boolean fits(Cut cut, long bytes) {
        long[] scratch = Segmentation.scratch(cut.graph, cut.segments);
        Liveness liveness = Liveness.of(cut.graph, cut.segments, scratch, withInputsAndOutputs);
        return liveness.peak() <= bytes
                && (MemoryPlanner.firstFit(liveness.problem()) <= bytes
                        || MemoryPlanner.plan(liveness.problem()).bytes() <= bytes);
    }

    /** All preferred blocks; without those that widen windows; shorter blocks. Where none of them remains, some of all are to be chosen. */
    private List<RowGraph> inFewerAndFewerBlocks() {
        return Stream.of(
                        graph,
                        graph.inBlocks(Integer.MAX_VALUE, RowGraph.Node::readsTheSameRow),
                        graph.inBlocks(2, node -> true),
                        graph.inBlocks(2, RowGraph.Node::readsTheSameRow))
                .distinct()
                .filter(blocks -> blocks.equals(graph) || !blocks.equals(graph.stepByStep()))
                .toList();
    }

    private long bytes(Cut cut) {
        long[] scratch = Segmentation.scratch(cut.graph, cut.segments);
        return MemoryPlanner.plan(Liveness.of(cut.graph, cut.segments, scratch, withInputsAndOutputs)
                        .problem())
                .bytes();
    }
}
