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
import io.kiln.stream.RowGraph.Cost;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Use;
import io.kiln.stream.RowGraph.Value;
import io.kiln.stream.StoredValue.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Builds the {@link RowGraph} of a function. */
final class RowGraphReader {
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

    RowGraph read(List<LoweredOperator> whole, List<LoweredOperator> byRows) {
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
            nodes.add(node(whole.get(i), byRows.get(i), accumulated, values, indexOf));
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
            OptionalInt accumulated,
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
        boolean computesRanges = byRows.function().readsScalars();
        int steps = accumulated.orElse(computesRanges ? values.get(output).rows() : 1);
        boolean accumulates = accumulated.isPresent();
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
