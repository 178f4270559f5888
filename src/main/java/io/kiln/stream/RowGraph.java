// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Result;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.PoolLowering;
import io.kiln.stream.Program.StoredValue.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * A program as the search for an order sees it: nodes in the order of the function, and the rows they read and write.
 *
 * @param nodes operators, then copies to outputs
 * @param values values that need memory: inputs, outputs, then intermediate values in the order in which they are
 * written
 * @param storage for each value of the function, index of the value that stores it
 */
record RowGraph(List<Node> nodes, List<Value> values, Map<Integer, Integer> storage) {
    RowGraph {
        nodes = List.copyOf(nodes);
        values = List.copyOf(values);
        storage = Map.copyOf(storage);
    }

    /**
     * The cost of an operator.
     *
     * @param wholeScratch bytes of scratch in one call
     * @param rowScratch bytes of scratch when it is called step by step
     * @param work multiply-accumulates of all steps
     * @param alignment least alignment of its scratch
     */
    record Cost(long wholeScratch, long rowScratch, long work, int alignment) {
        static final Cost NONE = new Cost(0, 0, 0, 1);
    }

    /**
     * An operator, or a copy.
     *
     * @param uses values read
     * @param output index of the value written
     * @param steps in how many calls it can run: rows of its output, or of its input if it accumulates; 1 for an operator without a range of rows
     * @param accumulates whether the output is there after the last step only, and scratch lives from the first to the last
     * @param block steps of one call when it is called step by step; divides the rings of what it reads and writes
     */
    record Node(List<Use> uses, int output, int steps, boolean accumulates, int block, Cost cost) {
        Node {
            uses = List.copyOf(uses);
        }

        /** Bytes of scratch in one call. */
        long wholeScratch() {
            return cost.wholeScratch;
        }

        /** Bytes of scratch when it is called step by step. */
        long rowScratch() {
            return cost.rowScratch;
        }

        /** Multiply-accumulates of all steps. */
        long work() {
            return cost.work;
        }

        /** The same node with fewer steps in one call. */
        Node inBlocksOf(int rows) {
            return new Node(uses, output, steps, accumulates, rows, cost);
        }

        /** Whether a row of the output needs just the same row of each input, so that blocks of rows do not widen windows. */
        boolean readsTheSameRow() {
            return uses.stream()
                    .allMatch(
                            use -> use.rows().firstRow(1, 2) == 1 && use.rows().endRow(1, 2) == 2);
        }

        /** Whether no row of the output exists before the last step. */
        boolean givesAllRowsAtOnce() {
            return accumulates || !canStep();
        }

        boolean canStep() {
            return steps > 1;
        }

        boolean reads(int value) {
            for (Use use : uses) {
                if (use.value() == value) {
                    return true;
                }
            }
            return false;
        }

        private Node renumbered(Map<Integer, Integer> numbers) {
            List<Use> some = uses.stream()
                    .map(use -> new Use(numbers.get(use.value()), use.rows()))
                    .toList();
            return new Node(some, numbers.get(output), steps, accumulates, block, cost);
        }
    }

    /** The same program with one step per call. */
    RowGraph stepByStep() {
        return inBlocks(1, node -> true);
    }

    /** The same program with at most this many steps per call, and one step for operators that are not selected. */
    RowGraph inBlocks(int most, Predicate<Node> operators) {
        return new RowGraph(
                nodes.stream()
                        .map(node -> node.inBlocksOf(operators.test(node) ? Math.min(most, node.block()) : 1))
                        .toList(),
                values,
                storage);
    }

    /** The same program with blocks for the operators selected by index. */
    RowGraph inBlocks(IntPredicate operators) {
        List<Node> some = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            some.add(operators.test(i) ? nodes.get(i) : nodes.get(i).inBlocksOf(1));
        }
        return new RowGraph(some, values, storage);
    }

    /** Steps of one call of each node: all that distinguishes the graphs of one program that are made by {@link #inBlocks}. */
    List<Integer> blocks() {
        return nodes.stream().map(Node::block).toList();
    }

    /** Rows that divide the ring of a value: those of a call that writes or reads it. */
    int block(int value) {
        Value of = values.get(value);
        int most = of.producer() < 0 ? 1 : nodes.get(of.producer()).block();
        for (int i = of.producer() + 1; i <= of.lastUser(); i++) {
            if (nodes.get(i).reads(value)) {
                most = Math.max(most, nodes.get(i).block());
            }
        }
        return most;
    }

    /** The values that exist before a node runs, and are read by it or by later ones or given to the caller; by index. */
    List<Integer> aliveBefore(int node, List<Integer> aliveBeforeThePrevious) {
        List<Integer> alive = new ArrayList<>();
        if (node == 0) {
            for (int i = 0; i < values.size(); i++) {
                if (values.get(i).producer() < 0) {
                    alive.add(i);
                }
            }
            return alive;
        }
        aliveBeforeThePrevious.stream()
                .filter(i -> values.get(i).isNeededFrom(node))
                .forEach(alive::add);
        int written = nodes.get(node - 1).output();
        if (values.get(written).isNeededFrom(node)) {
            alive.add(written);
        }
        return alive;
    }

    /**
     * A range of the nodes, numbered from 0, with the values that they touch and those that exist beforehand. Numbers of
     * producers and users are relative to it, and lie outside it for values that come from before or live longer.
     *
     * @param alive values that exist before the first node, by index
     */
    RowGraph part(int first, int end, List<Integer> alive) {
        TreeSet<Integer> touched = new TreeSet<>(alive);
        for (Node node : nodes.subList(first, end)) {
            node.uses().forEach(use -> touched.add(use.value()));
            touched.add(node.output());
        }
        Map<Integer, Integer> numbers = new HashMap<>();
        List<Value> some = new ArrayList<>();
        for (int i : touched) {
            numbers.put(i, some.size());
            some.add(values.get(i).relativeTo(first, nodes.size()));
        }
        return new RowGraph(
                nodes.subList(first, end).stream()
                        .map(node -> node.renumbered(numbers))
                        .toList(),
                some,
                Map.of());
    }

    /** Whether a node reads or changes a variable, so that it must run in the function's order. */
    boolean touchesState(int node) {
        return nodes.get(node).uses().stream()
                .anyMatch(use -> values.get(use.value()).place() == Place.STATE);
    }

    /** A value read: its index, and which of its rows each step needs. */
    record Use(int value, RowDependency rows) {}

    /**
     * A value.
     *
     * @param id of the value in the function, or a negative number for an output that is a copy
     * @param type its type when first computed
     * @param place who provides its memory
     * @param index index among the inputs or outputs; -1 for intermediate values
     * @param producer the node that writes it; -1 for inputs
     * @param lastUser the node that reads it last; its producer if there is none
     * @param alignment least alignment of its memory that its producer wants
     */
    record Value(int id, TensorType type, Place place, int index, int producer, int lastUser, int alignment) {
        int rows() {
            return Rows.count(type.shape());
        }

        long rowBytes() {
            return type.bytes() / rows();
        }

        Value aligned(int bytes) {
            return new Value(id, type, place, index, producer, lastUser, bytes);
        }

        /** Whether a node at this index or a later one reads it, or the caller gets it. */
        boolean isNeededFrom(int node) {
            return place == Place.OUTPUT || lastUser >= node;
        }

        /** The same value with nodes numbered from a later one; the caller uses an output after the last node. */
        private Value relativeTo(int first, int nodes) {
            int last = place == Place.OUTPUT ? nodes : lastUser;
            return new Value(id, type, place, index, producer - first, last - first, alignment);
        }
    }

    /**
     * Reads a function.
     *
     * @param operators in order, without reshapes
     * @param whole the operators lowered for whole tensors
     * @param byRows the operators lowered for calls row by row; empty if all run whole
     */
    static RowGraph of(
            Function function,
            List<FusedOperator> operators,
            List<LoweredOperator> whole,
            Optional<List<LoweredOperator>> byRows) {
        return new RowGraphReader(function, operators).read(whole, byRows);
    }

    /** Builds the {@link RowGraph} of a function. */
    private static final class RowGraphReader {
        private final Function function;
        private final List<FusedOperator> operators;
        private final Map<Integer, TensorType> types;
        private final Map<Integer, Integer> home = new HashMap<>();
        private final Map<Integer, Integer> producer = new HashMap<>();
        private final Map<Integer, Integer> lastUser = new HashMap<>();
        private final List<int[]> copies = new ArrayList<>();

        RowGraphReader(Function function, List<FusedOperator> operators) {
            this.function = function;
            this.operators = operators;
            this.types = function.types();
        }

        RowGraph read(List<LoweredOperator> whole, Optional<List<LoweredOperator>> byRows) {
            function.params().forEach(p -> home.put(p.id(), p.id()));
            function.variables().forEach(v -> home.put(v.id(), v.id()));
            for (Binding binding : function.bindings()) {
                home.put(binding.id(), binding.op().has(Trait.VIEW) ? home.get(binding.ref(0)) : binding.id());
            }
            for (int i = 0; i < whole.size(); i++) {
                int node = i;
                whole.get(i).inputs().forEach(id -> lastUser.put(home.get(id), node));
                producer.put(whole.get(i).output(), node);
            }
            List<Value> values = values(whole);
            Map<Integer, Integer> indexOf = new HashMap<>();
            for (int i = 0; i < values.size(); i++) {
                indexOf.put(values.get(i).id(), i);
            }
            List<Node> nodes = new ArrayList<>();
            for (int i = 0; i < whole.size(); i++) {
                OptionalInt accumulated = PoolLowering.accumulatedRows(operators.get(i));
                int all = Rows.count(operators.get(i).type().shape());
                LoweredOperator stepwise = byRows.orElse(whole).get(i);
                boolean computesRanges = byRows.isEmpty() || stepwise.function().readsScalars();
                int steps = accumulated.orElse(computesRanges ? all : 1);
                nodes.add(node(whole.get(i), stepwise, steps, accumulated.isPresent(), values, indexOf));
            }
            for (int[] copy : copies) {
                Value from = values.get(indexOf.get(copy[0]));
                Use all = new Use(indexOf.get(copy[0]), new RowDependency.All(from.rows()));
                nodes.add(new Node(List.of(all), indexOf.get(copy[1]), 1, false, 1, Cost.NONE));
            }
            Map<Integer, Integer> storage = new HashMap<>();
            home.forEach((id, stored) -> {
                if (indexOf.containsKey(stored)) {
                    storage.put(id, indexOf.get(stored));
                }
            });
            return new RowGraph(nodes, values, storage);
        }

        private Node node(
                LoweredOperator whole,
                LoweredOperator byRows,
                int steps,
                boolean accumulates,
                List<Value> values,
                Map<Integer, Integer> indexOf) {
            List<Use> uses = new ArrayList<>();
            for (int i = 0; i < byRows.inputs().size(); i++) {
                int id = byRows.inputs().get(i);
                int stored = indexOf.get(home.get(id));
                Shape shape = values.get(stored).type().shape();
                boolean sameRows = types.get(id).shape().equals(shape);
                uses.add(new Use(
                        stored, sameRows ? byRows.dependencies().get(i) : new RowDependency.All(Rows.count(shape))));
            }
            int output = indexOf.get(byRows.output());
            int block = accumulates || steps == 1 ? 1 : byRows.rowBlock();
            return new Node(
                    uses,
                    output,
                    steps,
                    accumulates,
                    block,
                    new Cost(
                            whole.scratchBytes(),
                            byRows.scratchBytes(),
                            whole.executedMacs(),
                            whole.cost().alignment()));
        }

        private List<Value> values(List<LoweredOperator> operators) {
            List<Integer> outputs = placeOutputs(operators.size());
            List<Value> values = new ArrayList<>();
            for (int i = 0; i < function.params().size(); i++) {
                Parameter parameter = function.params().get(i);
                values.add(value(parameter.id(), parameter.type(), Place.INPUT, i));
            }
            for (int i = 0; i < function.variables().size(); i++) {
                Variable variable = function.variables().get(i);
                values.add(value(variable.id(), variable.type(), Place.STATE, i));
            }
            for (int i = 0; i < outputs.size(); i++) {
                int id = outputs.get(i);
                TensorType type = types.get(id < 0 ? function.results().get(i).id() : id);
                values.add(value(id, type, Place.OUTPUT, i));
            }
            for (LoweredOperator operator : operators) {
                if (!outputs.contains(operator.output())) {
                    values.add(value(operator.output(), types.get(operator.output()), Place.WORKSPACE, -1)
                            .aligned(operator.cost().alignment()));
                }
            }
            return values;
        }

        private Value value(int id, TensorType type, Place place, int index) {
            int first = producer.getOrDefault(id, -1);
            return new Value(id, type, place, index, first, Math.max(first, lastUser.getOrDefault(id, first)), 1);
        }

        /** The stored value of each output; an input, or a value that is another output already, is copied. */
        private List<Integer> placeOutputs(int operators) {
            List<Integer> outputs = new ArrayList<>();
            for (Result result : function.results()) {
                int stored = home.get(result.id());
                if (producer.containsKey(stored) && !outputs.contains(stored)) {
                    outputs.add(stored);
                } else {
                    int copy = -1 - outputs.size();
                    int node = operators + copies.size();
                    copies.add(new int[] {stored, copy});
                    producer.put(copy, node);
                    lastUser.put(stored, node);
                    outputs.add(copy);
                }
            }
            return outputs;
        }
    }
}
