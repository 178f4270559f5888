// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.base.Bytes;
import io.kiln.device.rpc.packet.RpcValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Looks into a model that a host drives: node by node, each output and each time, with the names of TVM's debug executor
 * ({@code tvm.graph_executor_debug.create}).
 *
 * @param executor the executor whose graph is walked
 */
public record DebugExecutor(GraphExecutor executor) {
    /** The usual settings, as TVM's wrapper measures: ten calls, one block of at least a millisecond. */
    public static final TimeEvaluator.Settings USUAL = new TimeEvaluator.Settings(10, 1, 1, 100);

    private GraphFile graph() {
        return executor.graph();
    }

    /** Runs one node; nothing for inputs, parameters and reshapes. */
    public void executeNode(int node) {
        executor.call(node).ifPresent(GraphExecutor.Call::run);
    }

    /** The current value of a node's output. Another node may use its memory by now. */
    public Bytes getNodeOutput(int node, int output) {
        Node each = graph().nodes().get(node);
        if (output < 0 || output >= each.outputs()) {
            throw new IllegalArgumentException("node " + node + " has " + each.outputs() + " outputs, not " + output);
        }
        return executor.tensor(each.first() + output).download();
    }

    /** Runs up to and with a node, and gives its first output. */
    public Bytes debugGetOutput(int node) {
        for (int i = 0; i <= node; i++) {
            executeNode(i);
        }
        return getNodeOutput(node, 0);
    }

    /** Runs up to and with the node of this name, and gives its first output. */
    public Bytes debugGetOutput(String node) {
        int index = graph().nodes().stream().map(Node::name).toList().indexOf(node);
        if (index < 0) {
            throw new IllegalArgumentException("the graph has no node `" + node + "`");
        }
        return debugGetOutput(index);
    }

    /** Runs all nodes in order and keeps what each of them wrote, before another one takes its memory. Entries in order. */
    public List<Bytes> outputs() {
        List<Bytes> outputs = new ArrayList<>();
        for (int i = 0; i < graph().nodes().size(); i++) {
            executeNode(i);
            for (int k = 0; k < graph().nodes().get(i).outputs(); k++) {
                outputs.add(getNodeOutput(i, k));
            }
        }
        return List.copyOf(outputs);
    }

    /**
     * Measures every node by itself, by the board's own timer.
     *
     * @return for each node the mean seconds of one call in each block; 0 where nothing runs
     */
    public List<List<Double>> runIndividual(TimeEvaluator.Settings settings) {
        List<List<Double>> seconds = new ArrayList<>();
        for (int i = 0; i < graph().nodes().size(); i++) {
            seconds.add(runIndividualNode(i, settings));
            // The next node reads what this one writes.
            executeNode(i);
        }
        return List.copyOf(seconds);
    }

    /** Measures every node as {@link #runIndividual} does, and makes a report of it. */
    public NodeProfile profile(TimeEvaluator.Settings settings) {
        return new NodeProfile(graph(), runIndividual(settings));
    }

    /** Measures one node with what its inputs hold. */
    public List<Double> runIndividualNode(int node, TimeEvaluator.Settings settings) {
        return executor.call(node)
                .map(call -> executor.evaluator(node, settings)
                        .seconds(call.arguments().toArray(RpcValue[]::new)))
                .orElse(Collections.nCopies(settings.repeat(), 0.0));
    }
}
