// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.LazyList;
import java.util.List;
import java.util.Map;

/**
 * A graph with its parameters, from which TVM makes a graph executor: {@code GraphExecutorFactory}.
 *
 * @param graph the graph as JSON
 * @param names names of the parameters
 * @param parameters the parameters, in the order of their names
 * @param model name under which the factory is found
 */
public record GraphFactoryModule(Bytes graph, List<String> names, List<SerializedArray> parameters, String model)
        implements ModulePayload {
    public GraphFactoryModule {
        names = LazyList.copyOf(names);
        parameters = LazyList.copyOf(parameters);
    }

    static GraphFactoryModule read(ModuleReader in) {
        Bytes graph = in.string("the graph");
        FactoryParameters parameters = FactoryParameters.read(in);
        return new GraphFactoryModule(graph, parameters.names(), parameters.arrays(), in.text("the model's name"));
    }

    @Override
    public void write(ModuleWriter out) {
        out.string(graph);
        new FactoryParameters(names, parameters).write(out);
        out.string(model);
    }

    @Override
    public List<String> functions() {
        return List.of(model);
    }

    @Override
    public List<String> details() {
        return new FactoryParameters(names, parameters).lines();
    }

    @Override
    public Map<String, Bytes> files() {
        return Map.of("graph.json", graph);
    }
}
