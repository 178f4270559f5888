// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.NamedTensor;
import io.kiln.base.Failure;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.graph.StorageGraph.Node;
import io.kiln.executor.graph.StorageGraph.Tensor;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Result;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Makes the graph of a module: its inputs in order, then its operators and reshapes, each after the parameters that it is the first to read. */
final class StorageGraphBuilder {
    private static final String RESHAPE = "reshape_nop";

    private final PlannedModule module;
    private final Map<Integer, TensorFunction> functions;
    private final Map<Integer, TensorType> types;
    private final List<Node> nodes = new ArrayList<>();
    private final List<NamedTensor> parameters = new ArrayList<>();
    private final Map<Integer, Integer> entryOf = new HashMap<>();
    private final Set<String> names = new HashSet<>();
    private int entries;

    private StorageGraphBuilder(PlannedModule module, List<TensorFunction> functions) {
        this.module = module;
        this.functions = functions.stream().collect(Collectors.toMap(TensorFunction::output, f -> f));
        this.types = module.program().function().types();
    }

    /**
     * A graph with the values of its parameters.
     *
     * @param parameters by the names of its nodes
     */
    record Built(StorageGraph graph, List<NamedTensor> parameters) {}

    static Built of(PlannedModule module, List<TensorFunction> functions) {
        return new StorageGraphBuilder(module, functions).build();
    }

    private Built build() {
        Function function = module.program().function();
        Map<Integer, Binding> bindings = function.bindingsById();
        for (int i = 0; i < function.params().size(); i++) {
            TensorInfo input = module.api().inputs().get(i);
            String name = names.contains(input.name()) ? input.cName() : input.name();
            entryOf.put(function.params().get(i).id(), given(name, new Tensor(input.dtype(), input.shape())));
        }
        for (Group group : function.groups()) {
            Binding first = bindings.get(group.bindings().get(0));
            if (first.op().has(Trait.VIEW)) {
                view(group.output(), first);
            } else {
                operator(functions.get(group.output()));
            }
        }
        List<Integer> heads = function.results().stream().map(this::head).toList();
        return new Built(new StorageGraph(nodes, heads), parameters);
    }

    private int given(String name, Tensor tensor) {
        names.add(name);
        nodes.add(new Node(name, "", List.of(), List.of(tensor)));
        return entries++;
    }

    private void view(int id, Binding reshape) {
        computed(
                new Node(unique(RESHAPE), StorageGraph.NOP, List.of(entryOf.get(reshape.ref(0))), List.of(tensor(id))),
                id);
    }

    private void operator(TensorFunction function) {
        List<Integer> inputs = new ArrayList<>();
        function.inputs().forEach(id -> inputs.add(entryOf.get(id)));
        function.parameters().forEach(table -> inputs.add(parameter(table)));
        String name = function.function().name();
        computed(
                new Node(
                        unique(name),
                        name,
                        inputs,
                        function.hasOutput() ? List.of(tensor(function.output())) : List.of()),
                function.output());
    }

    private void computed(Node node, int id) {
        nodes.add(node);
        if (!node.outputs().isEmpty()) {
            entryOf.put(id, entries++);
        }
    }

    private int parameter(PrimFunc.Table table) {
        String name = unique("p" + parameters.size());
        parameters.add(
                new NamedTensor(name, table.buffer().dtype(), TensorFunction.shape(table.buffer()), table.data()));
        return given(name, new Tensor(table.buffer().dtype(), TensorFunction.shape(table.buffer())));
    }

    private int head(Result result) {
        Integer entry = entryOf.get(result.id());
        if (entry == null) {
            throw Failure.MODEL.exception(
                    "output `" + result.name() + "` is memory that the model keeps from run to run",
                    module.name(),
                    "an output that an operator computes: a graph has no copies",
                    "Set kiln.executor to aot");
        }
        return entry;
    }

    private Tensor tensor(int id) {
        TensorType type = types.get(id);
        return new Tensor(type.dtype(), type.shape().dims());
    }

    private String unique(String name) {
        String free = name;
        for (int i = 1; names.contains(free); i++) {
            free = name + "_" + i;
        }
        names.add(free);
        return free;
    }
}
