// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Function;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.PoolLowering;
import io.kiln.memory.MemoryPlan;
import io.kiln.memory.MemoryPlanner;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Use;
import io.kiln.stream.RowGraph.Value;
import io.kiln.stream.Segmentation.Segment;
import io.kiln.stream.StreamPlanner.Cut;
import io.kiln.stream.StreamPlanner.Lowering;
import io.kiln.stream.Tape.Call;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Lowers operators for the rows and rings of a plan, and assembles the program. */
final class ProgramBuilder {
    private final Function function;
    private final List<FusedOperator> operators;
    private final Lowering lowering;
    private final boolean withInputsAndOutputs;
    private final List<LoweredOperator> whole;

    ProgramBuilder(Function function, List<FusedOperator> operators, Lowering lowering, boolean withInputsAndOutputs) {
        this.function = function;
        this.operators = operators;
        this.lowering = lowering;
        this.withInputsAndOutputs = withInputsAndOutputs;
        this.whole = operators.stream()
                .map(op -> lowering.lower(op, Rows.whole(op.type().shape())))
                .toList();
    }

    /** The function as the search for segments sees it. */
    RowGraph graph() {
        List<LoweredOperator> byRows = operators.stream()
                .map(op -> lowering.lower(op, rows(op, List.of(), 0, 1)))
                .toList();
        return RowGraph.of(function, operators, whole, Optional.of(byRows));
    }

    /** The function if all of its operators run whole, so that none is lowered by rows. */
    RowGraph graphOfWhole() {
        return RowGraph.of(function, operators, whole, Optional.empty());
    }

    /**
     * The program.
     *
     * @param pools where its values lie
     */
    PlannedProgram build(Cut cut, ProgramPools pools) {
        RowGraph graph = cut.graph();
        long[] scratch = Segmentation.scratch(graph, cut.segments());
        Liveness draft = Liveness.of(graph, cut.segments(), scratch, withInputsAndOutputs);
        List<Integer> rings = draft.rings();
        List<LoweredOperator> lowered = new ArrayList<>(whole);
        for (Segment segment : cut.segments()) {
            for (int i = segment.first(); i < Math.min(segment.end(), operators.size()); i++) {
                if (segment.byRows()) {
                    lowered.set(i, lowering.lower(operators.get(i), rows(graph, i, rings)));
                }
                scratch[i] = lowered.get(i).scratchBytes();
            }
        }
        Map<String, Set<String>> targets = pools.targets(graph, lowered);
        MemoryPlan plan = MemoryPlanner.plan(Liveness.of(graph, cut.segments(), scratch, withInputsAndOutputs)
                .problem()
                .in(pools.bounds(), pools.choice(targets)));
        Tape tape = Tape.of(graph, cut.segments()).orElseThrow();
        List<Step> steps = new ArrayList<>();
        for (Segment segment : cut.segments()) {
            steps.add(step(graph, segment, tape, lowered));
        }
        Map<Integer, Integer> storage = new HashMap<>();
        graph.storage()
                .forEach(
                        (id, value) -> storage.put(id, graph.values().get(value).id()));
        return new PlannedProgram(
                new Program(function, lowered, steps, values(graph, rings), storage),
                new WorkspaceLayout(plan, pools.bounds(), targets));
    }

    private static Step step(RowGraph graph, Segment segment, Tape tape, List<LoweredOperator> lowered) {
        int first = segment.first();
        if (segment.byRows()) {
            List<Step.Lane> lanes = new ArrayList<>();
            for (int i = first; i < segment.end(); i++) {
                Node node = graph.nodes().get(i);
                lanes.add(new Step.Lane(lowered.get(i), node.steps(), node.block()));
            }
            List<Integer> order = tape.calls().stream()
                    .map(Call::node)
                    .filter(node -> node >= first && node < segment.end())
                    .map(node -> node - first)
                    .toList();
            return new Step.Stream(lanes, order);
        }
        if (first < lowered.size()) {
            return new Step.Run(lowered.get(first));
        }
        Node copy = graph.nodes().get(first);
        return new Step.Copy(
                graph.values().get(copy.uses().get(0).value()).id(),
                graph.values().get(copy.output()).id());
    }

    private static List<StoredValue> values(RowGraph graph, List<Integer> rings) {
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

    private Rows rows(RowGraph graph, int index, List<Integer> rings) {
        Node node = graph.nodes().get(index);
        List<Integer> inputs =
                node.uses().stream().map(Use::value).map(rings::get).toList();
        FusedOperator operator = operators.get(index);
        int outputRing = rings.get(node.output());
        return node.canStep() || node.accumulates()
                ? rows(operator, inputs, outputRing, node.block())
                : Rows.whole(operator.type().shape(), inputs, outputRing);
    }

    private static Rows rows(FusedOperator operator, List<Integer> inputRings, int outputRing, int block) {
        Shape shape = operator.type().shape();
        if (PoolLowering.accumulatedRows(operator).isPresent()) {
            return Rows.accumulating(inputRings);
        }
        return Rows.count(shape) == 1
                ? Rows.whole(shape, inputRings, outputRing)
                : Rows.named(inputRings, outputRing).inBlocksOf(block);
    }
}
