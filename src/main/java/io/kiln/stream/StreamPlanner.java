// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.base.Optimize;
import io.kiln.ir.Function;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.PoolLowering;
import io.kiln.memory.MemoryPlan;
import io.kiln.memory.MemoryPlanner;
import io.kiln.stream.PlanChoice.Blocks;
import io.kiln.stream.PlanChoice.Order;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.Program.Step;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Use;
import io.kiln.stream.RowGraph.Value;
import io.kiln.stream.Segmentation.Segment;
import io.kiln.stream.StreamPlanner.Cut;
import io.kiln.stream.StreamPlanner.Lowering;
import io.kiln.stream.Tape.Call;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
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

    private final ProgramBuilder builder;
    private final RowGraph graph;
    private final boolean withInputsAndOutputs;
    private final ProgramPools pools;
    private final Map<List<Integer>, Segmentation> searches = new HashMap<>();

    private StreamPlanner(ProgramBuilder builder, RowGraph graph, boolean withInputsAndOutputs, ProgramPools pools) {
        this.builder = builder;
        this.graph = graph;
        this.withInputsAndOutputs = withInputsAndOutputs;
        this.pools = pools;
    }

    /**
     * The input of the planner: a function with its operators.
     *
     * @param function the fused function
     * @param operators its groups in order, without reshapes
     * @param lowering makes loops of them
     * @param withInputsAndOutputs whether they lie in the workspace too; inputs then live from before the first call to
     *     their last use, row by row, outputs to after the last call
     * @param pools where its values lie; which operators run row by row is decided as if there were only one pool
     */
    public record Planned(
            Function function,
            List<FusedOperator> operators,
            Lowering lowering,
            boolean withInputsAndOutputs,
            ProgramPools pools) {
        public Planned {
            operators = List.copyOf(operators);
        }

        /** The same with other loops. */
        public Planned with(Lowering other) {
            return new Planned(function, operators, other, withInputsAndOutputs, pools);
        }

        private StreamPlanner inOrder(List<FusedOperator> order, boolean areAllWhole) {
            ProgramBuilder builder = new ProgramBuilder(function, order, lowering, withInputsAndOutputs);
            RowGraph graph = areAllWhole ? builder.graphOfWhole() : builder.graph();
            return new StreamPlanner(builder, graph, withInputsAndOutputs, pools);
        }

        private Optional<List<FusedOperator>> ofLeastPeak() {
            return OperatorOrder.ofLeastPeak(function, operators, withInputsAndOutputs);
        }

        /** A planner by the choice's order; empty if there is no other order than the function's. */
        private Optional<StreamPlanner> planner(Order order) {
            return order == Order.FUNCTION
                    ? Optional.of(inOrder(operators, false))
                    : ofLeastPeak().map(operators -> inOrder(operators, false));
        }
    }

    /** Plans a program. Its operators run in the order of the function, or in another one that needs less memory. */
    public static PlannedProgram plan(Planned program, Optimize optimize) {
        boolean areAllWhole = optimize == Optimize.SIZE;
        PlannedProgram natural = program.inOrder(program.operators, areAllWhole).plan(optimize);
        return program.ofLeastPeak()
                .map(order -> program.inOrder(order, areAllWhole).plan(optimize))
                .filter(other ->
                        other.layout().plan().bytes() < natural.layout().plan().bytes())
                .orElse(natural);
    }

    /** Plans a program as it was chosen; empty if it cannot be planned that way. */
    public static Optional<PlannedProgram> plan(Planned program, PlanChoice choice) {
        return program.planner(choice.order())
                .flatMap(planner -> planner.cut(choice).map(planner::build));
    }

    /**
     * The choices that give different plans, each with its plan.
     *
     * @param program what is planned
     */
    public static Map<PlanChoice, PlannedProgram> plans(Planned program) {
        Map<PlanChoice, PlannedProgram> plans = new LinkedHashMap<>();
        for (Order order : Order.values()) {
            Set<Cut> known = new HashSet<>();
            program.planner(order)
                    .ifPresent(planner -> PlanChoice.all().stream()
                            .filter(choice -> choice.order() == order)
                            .forEach(choice -> planner.cut(choice)
                                    .filter(cut -> known.add(cut.withoutIdleBlocks()))
                                    .ifPresent(cut -> plans.put(choice, planner.build(cut)))));
        }
        return plans;
    }

    private PlannedProgram plan(Optimize optimize) {
        return build(
                switch (optimize) {
                    case SIZE -> allWhole();
                    case RAM -> leastMemory();
                    case SPEED -> fewestCalls();
                });
    }

    private PlannedProgram build(Cut cut) {
        return builder.build(cut, pools);
    }

    private Optional<Cut> cut(PlanChoice choice) {
        if (choice.blocks() == Blocks.WHOLE) {
            return Optional.of(allWhole());
        }
        Cut least = leastMemory();
        long limit = bytes(least) * choice.memory() / 100;
        return switch (choice.blocks()) {
            case ONE -> fewestCalls(graph.stepByStep(), limit);
            case TWO_OF_SAME_ROW -> fewestCalls(graph.inBlocks(2, RowGraph.Node::readsTheSameRow), limit);
            case TWO -> fewestCalls(graph.inBlocks(2, node -> true), limit);
            case SAME_ROW -> fewestCalls(graph.inBlocks(Integer.MAX_VALUE, RowGraph.Node::readsTheSameRow), limit);
            case SOME -> Optional.of(someBlocks(least, limit));
            default -> fewestCalls(graph, limit);
        };
    }

    record Cut(RowGraph graph, List<Segment> segments) {
        /** The same segments without the blocks of operators that run whole: equal ones give the same program. */
        private Cut withoutIdleBlocks() {
            BitSet interleaved = new BitSet();
            segments.stream()
                    .filter(Segment::byRows)
                    .forEach(segment -> interleaved.set(segment.first(), segment.end()));
            return new Cut(graph.inBlocks(interleaved::get), segments);
        }
    }

    private Cut allWhole() {
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < graph.nodes().size(); i++) {
            segments.add(new Segment(i, i + 1, false));
        }
        return new Cut(graph, segments);
    }

    private Cut leastMemory() {
        RowGraph stepByStep = graph.stepByStep();
        Segmentation search = search(stepByStep);
        return new Cut(stepByStep, search.fewestCalls(search.leastBytes()));
    }

    /** Searches the segments of a graph; the bounds that it finds for candidates help the next search with another limit. */
    private Segmentation search(RowGraph candidate) {
        return searches.computeIfAbsent(candidate.blocks(), blocks -> Segmentation.of(candidate, withInputsAndOutputs));
    }

    private Cut fewestCalls() {
        Cut least = leastMemory();
        long limit = limitForSpeed(bytes(least));
        for (RowGraph candidate : inFewerAndFewerBlocks()) {
            Optional<Cut> cut = fewestCalls(candidate, limit);
            if (cut.isPresent()) {
                return cut.get();
            }
        }
        return someBlocks(least, limit);
    }

    /** What is there to spare is no reason to take more memory than all tensors do, each whole. */
    private long limitForSpeed(long least) {
        long whole = Liveness.of(
                        graph, allWhole().segments, new long[graph.nodes().size()], withInputsAndOutputs)
                .peak();
        return Math.max(least * PERCENT_FOR_SPEED / 100, Math.min(least + pools.spare(), whole));
    }

    /** Adds blocks where they save the most work within the limit. */
    private Cut someBlocks(Cut least, long limit) {
        RowGraph chosen = BlockChoice.of(graph, least.segments, some -> fits(new Cut(some, least.segments), limit));
        return fewestCalls(chosen, limit).orElse(new Cut(chosen, least.segments));
    }

    /** The fewest calls within the limit, if there is a solution. */
    private Optional<Cut> fewestCalls(RowGraph candidate, long limit) {
        Segmentation search = search(candidate);
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

    /** The graph with ever fewer blocks: all preferred ones, those that do not widen windows, then shorter ones. If none of these fits, a
     * subset of the blocks is searched. */
    private List<RowGraph> inFewerAndFewerBlocks() {
        Map<List<Integer>, RowGraph> different = new LinkedHashMap<>();
        different.put(graph.stepByStep().blocks(), graph.stepByStep());
        for (RowGraph candidate : List.of(
                graph,
                graph.inBlocks(Integer.MAX_VALUE, RowGraph.Node::readsTheSameRow),
                graph.inBlocks(2, node -> true),
                graph.inBlocks(2, RowGraph.Node::readsTheSameRow))) {
            different.putIfAbsent(candidate.blocks(), candidate);
        }
        // Step by step is the last resort of the search, unless the graph has no blocks at all.
        List<RowGraph> candidates = List.copyOf(different.values());
        return candidates.size() == 1 ? candidates : candidates.subList(1, candidates.size());
    }

    private long bytes(Cut cut) {
        long[] scratch = Segmentation.scratch(cut.graph, cut.segments);
        return MemoryPlanner.plan(Liveness.of(cut.graph, cut.segments, scratch, withInputsAndOutputs)
                        .problem())
                .bytes();
    }

    /**
     * Chooses which operators compute rows in blocks if there is not enough memory for all of them: those that save the
     * most work together. Searches over sets, operators with the largest savings first; a set that does not fit is dropped
     * with all its supersets, and so is one that cannot become better than the best known.
     */
    static final class BlockChoice {
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

    /** Lowers an operator for the rows and rings of a plan. */
    @FunctionalInterface
    public interface Lowering {
        LoweredOperator lower(FusedOperator operator, Rows rows);

        /** The same, which lowers an operator only once for the same rows: both orders and several plans of a program need them. */
        default Lowering remembering() {
            IdentityHashMap<FusedOperator, Map<Rows, LoweredOperator>> known = new IdentityHashMap<>();
            return (operator, rows) -> {
                synchronized (known) {
                    return known.computeIfAbsent(operator, each -> new HashMap<>())
                            .computeIfAbsent(rows, each -> lower(operator, each));
                }
            };
        }
    }

    /** Lowers operators for the rows and rings of a plan, and assembles the program. */
    private static final class ProgramBuilder {
        private final Function function;
        private final List<FusedOperator> operators;
        private final Lowering lowering;
        private final boolean withInputsAndOutputs;
        private final List<LoweredOperator> whole;

        ProgramBuilder(
                Function function, List<FusedOperator> operators, Lowering lowering, boolean withInputsAndOutputs) {
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
                    .forEach((id, value) ->
                            storage.put(id, graph.values().get(value).id()));
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
}
