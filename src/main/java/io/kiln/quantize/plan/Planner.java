// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.graph.FloatGraph.AroundTrees;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.IntegerForms.Form;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.QuantizedConstants.FilterConstants;
import io.kiln.quantize.plan.QuantizedConstants.LayerConstants;
import io.kiln.quantize.plan.QuantizedConstants.QuantizedVotes;
import io.kiln.quantize.plan.QuantizedConstants.RecurrentConstants;
import io.kiln.quantize.range.Calibration.Statistics;
import io.kiln.quantize.range.ValueRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Decides formats from precisions and ranges. */
public final class Planner {
    private final FloatGraph graph;
    private final Statistics statistics;
    private final Set<Integer> aroundTrees;

    /**
     * @param statistics ranges and means of the network's float values
     */
    public Planner(FloatGraph graph, Statistics statistics) {
        this.graph = graph;
        this.statistics = statistics;
        this.aroundTrees = AroundTrees.of(graph);
    }

    /**
     * What is asked for.
     *
     * @param usual precision of nodes
     * @param others precision of some nodes by their output
     * @param floatBorder whether inputs and outputs stay float
     */
    public record Wishes(Precision usual, Map<Integer, Precision> others, boolean floatBorder) {
        public Wishes {
            others = Map.copyOf(others);
        }

        Precision of(Node node) {
            return others.getOrDefault(node.output(), usual);
        }

        public Wishes with(Node node, Precision precision) {
            Map<Integer, Precision> more = new HashMap<>(others);
            more.put(node.output(), precision);
            return new Wishes(usual, more, floatBorder);
        }
    }

    /** Whether a node has integer arithmetic in a precision. */
    public static boolean isPossible(Node node, Precision precision) {
        return precision == Precision.FLOAT
                || areVotes(node)
                || IntegerForms.of(node, precision).isPresent();
    }

    /** Whether a node sums votes of trees, which are quantized, while its data and result stay float. */
    private static boolean areVotes(Node node) {
        return node.op() instanceof TreeEnsemble && QuantizedVotes.isPossible(node);
    }

    /** Whether a node computes new numbers in int8, rather than moving elements. */
    public static boolean isArithmetic(Node node) {
        return areVotes(node)
                || IntegerForms.of(node, Precision.INT8)
                        .filter(form -> form.kind() != Form.Kind.SAME)
                        .isPresent();
    }

    /** The plan as the wishes alone decide it, before constants are quantized. */
    private record Assignment(Map<Integer, Precision> precisions, Map<Integer, Form> forms, SettledScales scales) {}

    /** The plan for wishes. Nodes without integer arithmetic in the precision asked for, or for their scales, are float. */
    public Plan plan(Wishes wishes) {
        Assignment assignment = assignment(wishes);
        SettledScales scales = assignment.scales;
        List<PlannedNode> nodes = graph.nodes().stream()
                .map(node -> assignment.precisions.get(node.output()) == Precision.FLOAT
                        ? real(node, wishes.of(node))
                        : planned(node, assignment.precisions.get(node.output()), assignment.forms, scales))
                .toList();
        return new Plan(graph.function(), nodes, border(wishes, scales));
    }

    private Assignment assignment(Wishes wishes) {
        Wishes current = wishes;
        while (true) {
            Assignment assignment = attempt(current);
            List<Node> beyond = graph.nodes().stream()
                    .filter(node -> assignment.precisions.get(node.output()) != Precision.FLOAT
                            && !(areStatesKept(node) && assignment.scales.areKept(node)))
                    .toList();
            if (beyond.isEmpty()) {
                return assignment;
            }
            for (Node node : beyond) {
                current = current.with(node, Precision.FLOAT);
            }
        }
    }

    private Assignment attempt(Wishes wishes) {
        Map<Integer, Precision> precisions = precisions(wishes);
        Map<Integer, Form> forms = new HashMap<>();
        for (Node node : graph.nodes()) {
            IntegerForms.of(node, precisions.get(node.output())).ifPresent(form -> forms.put(node.output(), form));
        }
        ScaleGroups groups = ScaleGroups.of(graph, statistics.ranges(), forms);
        return new Assignment(precisions, forms, SettledScales.of(graph, groups, precisions));
    }

    /** Elements that only move between float operators stay float. */
    private Map<Integer, Precision> precisions(Wishes wishes) {
        Map<Integer, Precision> precisions = new HashMap<>();
        for (Node node : graph.nodes()) {
            Precision precision = wishes.of(node);
            Optional<Form> form = IntegerForms.of(node, precision);
            boolean movesFloats = form.filter(f -> f.kind() == Form.Kind.SAME).isPresent()
                    && node.data().stream()
                            .allMatch(arg -> arg instanceof Arg.Ref ref && precisions.get(ref.id()) == Precision.FLOAT);
            boolean isFloat = form.isEmpty() || movesFloats || aroundTrees.contains(node.output());
            precisions.put(node.output(), isFloat ? Precision.FLOAT : precision);
        }
        return precisions;
    }

    private PlannedNode real(Node node, Precision wished) {
        List<Format> data = node.argTypes().subList(0, node.data().size()).stream()
                .map(type -> Format.plain(type.dtype()))
                .toList();
        Precision precision = areVotes(node) ? wished : Precision.FLOAT;
        Optional<String> reason =
                precision == Precision.FLOAT && node.type().dtype().isFloat()
                        ? Optional.of(reason(node, wished))
                        : Optional.empty();
        return new PlannedNode(
                node,
                precision,
                data,
                Format.plain(node.type().dtype()),
                Optional.empty(),
                PlannedNode.Stateful.NONE,
                reason);
    }

    /** Why a node is float. */
    private String reason(Node node, Precision wished) {
        Optional<Form> form = IntegerForms.of(node, wished);
        if (wished == Precision.FLOAT) {
            return "asked for by name, or chosen by the search";
        }
        if (form.isEmpty()) {
            return wished == Precision.INT16 && isPossible(node, Precision.INT8)
                    ? "TensorFlow Lite quantizes it with data of int8 only"
                    : "TensorFlow Lite's quantization has no integer form of it";
        }
        if (aroundTrees.contains(node.output())) {
            return "it prepares what trees compare, or computes with their votes";
        }
        if (!States.areZero(graph.function(), node)) {
            return "its state does not begin with zeros";
        }
        if (!areStatesKept(node)) {
            return "its cell goes up to " + range(RecurrentConstants.cell(node)).magnitude() + "; integers hold "
                    + RecurrentConstants.MOST_CELL;
        }
        return form.get().kind() == Form.Kind.SAME
                ? "moves elements between float operators"
                : "its scales are beyond the fixed point of its kernel";
    }

    private PlannedNode planned(Node node, Precision precision, Map<Integer, Form> forms, SettledScales scales) {
        Format output = Format.of(precision, scales.quantization(node.output(), precision));
        boolean isSame = forms.get(node.output()).kind() == Form.Kind.SAME;
        List<Format> data = new ArrayList<>();
        for (int i = 0; i < node.data().size(); i++) {
            data.add(isSame ? output : Format.of(precision, scales.operand(node, i)));
        }
        float scale = data.get(0).quantization().map(Quantization::scale).orElse(1f);
        Optional<LayerConstants> constants =
                node.layer().map(layer -> LayerConstants.of(node, scale, precision, means(node)));
        Optional<RecurrentConstants> recurrent = Optional.of(node)
                .filter(n -> n.op() instanceof Lstm)
                .map(n -> RecurrentConstants.of(n, scale, range(RecurrentConstants.cell(n))));
        PlannedNode.Stateful stateful = new PlannedNode.Stateful(filter(node), recurrent);
        return new PlannedNode(node, precision, data, output, constants, stateful, Optional.empty());
    }

    /** Whether integers hold the values that a node keeps between runs. */
    private boolean areStatesKept(Node node) {
        return States.areZero(graph.function(), node)
                && (!(node.op() instanceof Lstm lstm)
                        || RecurrentConstants.isCell(lstm, range(RecurrentConstants.cell(node))));
    }

    private ValueRange range(int id) {
        return statistics.ranges().getOrDefault(id, ValueRange.EMPTY);
    }

    private Optional<FilterConstants> filter(Node node) {
        return Optional.of(node)
                .filter(n -> n.op() instanceof Svdf)
                .map(n -> FilterConstants.of(n, range(FilterConstants.state(n))));
    }

    private Optional<double[]> means(Node node) {
        return node.data().get(0) instanceof Arg.Ref ref
                ? Optional.ofNullable(statistics.means().get(ref.id()))
                : Optional.empty();
    }

    private Plan.Border border(Wishes wishes, SettledScales scales) {
        Map<Integer, Format> inputs = new HashMap<>();
        Map<Integer, TensorType> types = graph.function().types();
        Set<Integer> params =
                graph.function().params().stream().map(p -> p.id()).collect(Collectors.toSet());
        Precision usual = wishes.usual() == Precision.FLOAT ? Precision.INT8 : wishes.usual();
        params.forEach(id -> inputs.put(id, border(id, types.get(id).dtype(), wishes, usual, scales)));
        List<Format> outputs = graph.function().results().stream()
                .map(result -> border(result.id(), types.get(result.id()).dtype(), wishes, usual, scales))
                .toList();
        return new Plan.Border(inputs, outputs);
    }

    /** Trees compare floats: steps of 8 bits would move what they compare. */
    private Format border(int id, DType dtype, Wishes wishes, Precision precision, SettledScales scales) {
        return !dtype.isFloat()
                        || wishes.floatBorder()
                        || graph.nodes().stream().anyMatch(Planner::areVotes)
                ? Format.plain(dtype)
                : Format.of(precision, scales.quantization(id, precision));
    }

    /** What nodes keep between runs. */
    public static final class States {
        private States() {}

        /** Whether all float variables that a node changes begin with zeros, as those of a TensorFlow Lite model do. */
        public static boolean areZero(Function function, Node node) {
            Set<Integer> changed = node.op().writes().stream()
                    .map(position -> node.args().get(position))
                    .filter(Arg.Ref.class::isInstance)
                    .map(arg -> ((Arg.Ref) arg).id())
                    .collect(Collectors.toSet());
            return function.variables().stream()
                    .filter(v -> changed.contains(v.id()) && v.type().dtype().isFloat())
                    .allMatch(v -> IntStream.range(0, v.initial().size())
                            .allMatch(i -> v.initial().buffer().get(i) == 0));
        }
    }
}
