// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.artifact.GraphFile;
import io.kiln.base.Bytes;
import java.util.List;
import java.util.Optional;

/**
 * A model that a board is to measure by its own timer.
 *
 * @param name its name in the image
 * @param inputs the values of its inputs
 * @param graph what the graph executor walks; empty with the AOT executor
 */
public record TimedModel(String name, List<Input> inputs, Optional<Graph> graph) {
    public TimedModel {
        inputs = List.copyOf(inputs);
    }

    /**
     * An input.
     *
     * @param value its bytes
     */
    public record Input(String name, Bytes value) {}

    /**
     * A graph as an archive holds it.
     *
     * @param file the graph's JSON
     * @param parameters the file with the values of its parameters
     */
    public record Graph(Bytes file, Bytes parameters) {
        public GraphFile read() {
            return GraphFile.read(file, "graph.json");
        }
    }

    /**
     * Measures the model.
     *
     * @throws io.kiln.base.KilnException if the image does not have the model, or the board does not answer
     */
    public RunTimes measure(RpcClient client, RemoteModule library, TimeEvaluator.Settings settings) {
        return graph.isPresent() ? nodes(client, library, graph.get(), settings) : whole(client, library, settings);
    }

    private RunTimes whole(RpcClient client, RemoteModule library, TimeEvaluator.Settings settings) {
        try (AotExecutor executor = AotExecutor.create(client, library, name)) {
            executor.run(inputs.stream().map(Input::value).toList());
            return new RunTimes(List.of(executor.timeEvaluator(client, settings).seconds()));
        }
    }

    private RunTimes nodes(RpcClient client, RemoteModule library, Graph walked, TimeEvaluator.Settings settings) {
        try (GraphExecutor executor = GraphExecutor.create(client, library, walked.read())) {
            executor.loadParams(walked.parameters());
            inputs.forEach(input -> executor.setInput(input.name(), input.value()));
            return new RunTimes(new DebugExecutor(executor).runIndividual(settings));
        }
    }

    /**
     * Times of a model on a board.
     *
     * @param seconds with the AOT executor one entry, for whole runs; with a graph an entry for each node: mean seconds of one call in each block, 0
     *     where nothing runs
     */
    public record RunTimes(List<List<Double>> seconds) {
        public RunTimes {
            seconds = seconds.stream().map(List::copyOf).toList();
        }
    }
}
