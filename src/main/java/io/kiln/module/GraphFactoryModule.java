// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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
        names = List.copyOf(names);
        parameters = List.copyOf(parameters);
    }

    static GraphFactoryModule read(ModuleReader in) {
        Bytes graph = in.string("the graph");
        int at = in.position();
        int count = in.count(SerializedArray.LEAST_BYTES, "the number of parameters");
        List<String> names = in.texts("parameters");
        if (names.size() != count) {
            throw in.broken("there are " + count + " parameters and " + names.size() + " names", at);
        }
        List<SerializedArray> parameters = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            parameters.add(SerializedArray.read(in));
        }
        return new GraphFactoryModule(graph, names, parameters, in.text("the model's name"));
    }

    @Override
    public void write(ModuleWriter out) {
        out.string(graph).u64(names.size()).strings(names);
        parameters.forEach(parameter -> out.raw(parameter.bytes()));
        out.string(model);
    }

    @Override
    public List<String> functions() {
        return List.of(model);
    }

    @Override
    public List<String> details() {
        return IntStream.range(0, names.size())
                .mapToObj(i -> names.get(i) + ": " + parameters.get(i).text())
                .toList();
    }

    @Override
    public Map<String, Bytes> files() {
        return Map.of("graph.json", graph);
    }
}
