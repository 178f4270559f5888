// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.base.Optimize;
import io.kiln.ir.Function;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.PoolLowering;
import io.kiln.lower.Rows;
import io.kiln.memory.MemoryPlan;
import io.kiln.memory.MemoryPlanner;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Use;
import io.kiln.stream.RowGraph.Value;
import io.kiln.stream.Tape.Call;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which operators run whole and which row by row, and where everything lies. {@link Optimize#SIZE} runs all of them
 * whole; {@link Optimize#RAM} takes the segments that need the least memory; {@link Optimize#SPEED} those with the fewest calls
 * that need at most a tenth more.
 */
public final class StreamPlanner {
    private static final List<Integer> PERCENT_FOR_SPEED = List.of(110, 105, 100);

    private final Function function;
    private final List<FusedOperator> operators;
    private final Lowering lowering;
    private final boolean withInputsAndOutputs;
    private final List<LoweredOperator> whole;
    private final RowGraph graph;

    private StreamPlanner(
            Function function, List<FusedOperator> operators, Lowering lowering, boolean withInputsAndOutputs) {
        this.function = function;
        this.operators = operators;
        this.lowering = lowering;
        this.withInputsAndOutputs = withInputsAndOutputs;
        this.whole = operators.stream()
                .map(op -> lowering.lower(op, Rows.whole(op.type().shape())))
                .toList();
        List<LoweredOperator> byRows = operators.stream()
                .map(op -> lowering.lower(op, rows(op, List.of(), 0)))
                .toList();
        this.graph = RowGraph.of(function, operators, whole, byRows);
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
        StreamPlanner planner = new StreamPlanner(function, operators, lowering, withInputsAndOutputs);
        return planner.build(optimize == Optimize.SIZE ? planner.allWhole() : planner.search(optimize));
    }

    private List<Segment> allWhole() {
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < graph.nodes().size(); i++) {
            segments.add(new Segment(i, i + 1, false));
        }
        return segments;
    }

    private List<Segment> search(Optimize optimize) {
        Segmentation search = Segmentation.of(graph, withInputsAndOutputs);
        long least = search.leastBytes();
        List<Segment> best = search.fewestCalls(least);
        if (optimize == Optimize.RAM) {
            return best;
        }
        long limit = bytes(best) * PERCENT_FOR_SPEED.get(0) / 100;
        for (int percent : PERCENT_FOR_SPEED) {
            List<Segment> segments = search.fewestCalls(least * percent / 100);
            if (bytes(segments) <= limit) {
                return segments;
            }
        }
        return best;
    }

    private Liveness simulate(Tape tape, long[] scratch) {
        return Liveness.of(graph, tape, 0, graph.nodes().size(), scratch, withInputsAndOutputs);
    }

    private long bytes(List<Segment> segments) {
        Tape tape = Tape.of(graph, segments, false).orElseThrow();
        Liveness liveness = simulate(tape, Segmentation.scratch(graph, segments));
        return MemoryPlanner.plan(liveness.problem()).bytes();
    }

    private PlannedProgram build(List<Segment> segments) {
        Tape tape = Tape.of(graph, segments, false).orElseThrow();
        Liveness draft = simulate(tape, Segmentation.scratch(graph, segments));
        List<Integer> rings = graph.values().stream().map(draft::ring).toList();
        List<LoweredOperator> lowered = new ArrayList<>(whole);
        long[] scratch = new long[graph.nodes().size()];
        for (Segment segment : segments) {
            for (int i = segment.first(); i < Math.min(segment.end(), operators.size()); i++) {
                if (segment.byRows()) {
                    lowered.set(i, lowering.lower(operators.get(i), rows(i, rings)));
                }
                scratch[i] = lowered.get(i).scratchBytes();
            }
        }
        MemoryPlan plan = MemoryPlanner.plan(simulate(tape, scratch).problem());
        List<Step> steps = new ArrayList<>();
        for (Segment segment : segments) {
            steps.add(step(segment, tape, lowered));
        }
        Map<Integer, Integer> storage = new HashMap<>();
        graph.storage()
                .forEach(
                        (id, value) -> storage.put(id, graph.values().get(value).id()));
        return new PlannedProgram(
                new Program(function, lowered, steps, values(rings), storage), new WorkspaceLayout(plan));
    }

    private Step step(Segment segment, Tape tape, List<LoweredOperator> lowered) {
        int first = segment.first();
        if (segment.byRows()) {
            List<Integer> order = tape.calls().stream()
                    .map(Call::node)
                    .filter(node -> node >= first && node < segment.end())
                    .map(node -> node - first)
                    .toList();
            return new Step.Stream(lowered.subList(first, segment.end()), order);
        }
        if (first < lowered.size()) {
            return new Step.Run(lowered.get(first));
        }
        Node copy = graph.nodes().get(first);
        return new Step.Copy(
                graph.values().get(copy.uses().get(0).value()).id(),
                graph.values().get(copy.output()).id());
    }

    private List<StoredValue> values(List<Integer> rings) {
        List<StoredValue> values = new ArrayList<>();
        for (int i = 0; i < graph.values().size(); i++) {
            Value value = graph.values().get(i);
            values.add(new StoredValue(
                    value.id(),
                    value.type(),
                    rings.get(i),
                    value.place(),
                    value.index(),
                    value.producer(),
                    value.lastUser()));
        }
        return values;
    }

    private Rows rows(int node, List<Integer> rings) {
        List<Integer> inputs = graph.nodes().get(node).uses().stream()
                .map(Use::value)
                .map(rings::get)
                .toList();
        return rows(
                operators.get(node), inputs, rings.get(graph.nodes().get(node).output()));
    }

    private static Rows rows(FusedOperator operator, List<Integer> inputRings, int outputRing) {
        Shape shape = operator.type().shape();
        if (PoolLowering.accumulatedRows(operator).isPresent()) {
            return Rows.accumulating(inputRings);
        }
        return Rows.count(shape) == 1 ? Rows.whole(shape, inputRings, outputRing) : Rows.named(inputRings, outputRing);
    }
}
