// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.artifact.GraphFile;
import io.kiln.artifact.GraphFile.Entry;
import io.kiln.artifact.GraphFile.Node;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.rpc.packet.RpcValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A model whose graph this computer walks while the board computes: the host-driven graph executor, with the functions of TVM's (facts of
 * src/runtime/graph_executor). Storage lies on the board, one block for each storage id, and every operator is one call.
 */
public final class GraphExecutor implements RemoteModel {
    private static final DataType BYTE = new DataType(1, 8, 1);
    private static final String LINKED = "_lookup_linked_param";
    private static final String NAME = "parameters";

    private final RpcClient client;
    private final RemoteModule library;
    private final GraphFile graph;
    private final List<RemoteTensor> blocks = new ArrayList<>();
    private final List<RpcValue.Tensor> entries = new ArrayList<>();
    private final Map<String, RemoteFunction> functions = new HashMap<>();
    private final Set<String> loaded = new HashSet<>();

    private GraphExecutor(RpcClient client, RemoteModule library, GraphFile graph) {
        this.client = client;
        this.library = library;
        this.graph = graph;
    }

    /**
     * Takes memory for a graph and looks its operators up; the caller closes it.
     *
     * @param library the system library
     * @throws RpcException of kind {@link Kind#REMOTE} if the board lacks a function, or memory
     */
    public static GraphExecutor create(RpcClient client, RemoteModule library, GraphFile graph) {
        GraphExecutor executor = new GraphExecutor(client, library, graph);
        try {
            graph.functions().forEach(name -> executor.functions.put(name, library.require(name)));
            executor.allocate();
            return executor;
        } catch (RpcException e) {
            executor.close();
            throw e;
        }
    }

    private void allocate() {
        Optional<RemoteFunction> linked = library.function(LINKED);
        Map<Integer, Long> addresses = new HashMap<>();
        for (Storage storage : graph.storages()) {
            long address = linked.map(lookup ->
                            lookup.call(new RpcValue.Int(storage.id())).handle())
                    .orElse(0L);
            if (address == 0) {
                RemoteTensor block = client.allocate(BYTE, Math.max(1, storage.bytes()));
                blocks.add(block);
                address = block.value().data();
            }
            addresses.put(storage.id(), address);
        }
        for (Entry entry : graph.entries()) {
            DataType type = new DataType(entry.type().code(), entry.type().bits(), 1);
            List<Long> shape = entry.shape().stream().map(Integer::longValue).toList();
            entries.add(new RpcValue.Tensor(addresses.get(entry.storage()), RpcValue.Device.CPU, type, shape, 0));
        }
    }

    /** The graph that it walks. */
    public GraphFile graph() {
        return graph;
    }

    /** Number of inputs, parameters among them. */
    public int numInputs() {
        return graph.given().size();
    }

    public int numOutputs() {
        return graph.heads().size();
    }

    /** The number of an input or parameter; -1 if none has this name. */
    public int inputIndex(String name) {
        return graph.given().stream().map(Node::name).toList().indexOf(name);
    }

    /** Types and shapes of the inputs by name, without parameters that were loaded. */
    public Map<String, Entry> inputInfo() {
        Map<String, Entry> info = new LinkedHashMap<>();
        graph.given().stream()
                .filter(node -> !loaded.contains(node.name()))
                .forEach(node -> info.put(node.name(), graph.entries().get(node.first())));
        return info;
    }

    /** Types and shapes of the outputs, in order. */
    public List<Entry> outputInfo() {
        return graph.heads().stream().map(graph.entries()::get).toList();
    }

    /** Copies an input or parameter to the board. */
    public void setInput(String name, Bytes content) {
        tensor(entryOf(name)).upload(content);
    }

    /** Copies an input or parameter to the board, by its number. */
    public void setInput(int index, Bytes content) {
        tensor(graph.given().get(index).first()).upload(content);
    }

    /** The value of an input or parameter. */
    public Bytes getInput(int index) {
        return tensor(graph.given().get(index).first()).download();
    }

    /** The value of an output. */
    public Bytes getOutput(int index) {
        return tensor(graph.heads().get(index)).download();
    }

    /** Has an input read from a tensor of the board's. */
    public void setInputZeroCopy(String name, RemoteTensor from) {
        redirect(entryOf(name), from);
    }

    /** Has an output written to a tensor of the board's. */
    public void setOutputZeroCopy(int index, RemoteTensor to) {
        redirect(graph.heads().get(index), to);
    }

    /** Moves an entry and the views of it; whatever else shares their memory stays. */
    private void redirect(int entry, RemoteTensor tensor) {
        if (tensor.bytes() != graph.entries().get(entry).bytes()) {
            throw new IllegalArgumentException(
                    "entry " + entry + " was given a tensor of " + tensor.bytes() + " bytes");
        }
        move(entry, tensor.value().data() + tensor.value().byteOffset());
        for (Node node : graph.nodes()) {
            if (node.function().equals(GraphFile.NOP)) {
                move(node.first(), entries.get(node.inputs().get(0)).data());
            }
        }
    }

    private void move(int entry, long address) {
        RpcValue.Tensor now = entries.get(entry);
        entries.set(entry, new RpcValue.Tensor(address, now.device(), now.element(), now.shape(), 0));
    }

    /**
     * Copies the parameters of a file to the board.
     *
     * @throws RpcException if the graph does not have one of them, or has it with another size
     */
    public void loadParams(Bytes file) {
        for (NamedTensor tensor : ParameterFile.read(file, NAME)) {
            int entry = entryOf(tensor.name());
            if (graph.entries().get(entry).bytes() != tensor.data().size()) {
                throw unknown(
                        "parameter `" + tensor.name() + "` of " + tensor.data().size() + " bytes");
            }
            tensor(entry).upload(tensor.data());
            loaded.add(tensor.name());
        }
    }

    /** Has the parameters of a file, whose values another executor has loaded, read from that one's memory. */
    public void shareParams(GraphExecutor other, Bytes file) {
        for (NamedTensor tensor : ParameterFile.read(file, NAME)) {
            redirect(entryOf(tensor.name()), other.tensor(other.entryOf(tensor.name())));
            loaded.add(tensor.name());
        }
    }

    private int entryOf(String name) {
        int index = inputIndex(name);
        if (index < 0) {
            throw unknown("`" + name + "`");
        }
        return graph.given().get(index).first();
    }

    private static RpcException unknown(String what) {
        return new RpcException(
                Kind.REMOTE,
                Failure.RPC.problem(
                        "the graph has no input or parameter " + what, RpcException.WHERE, "one of the graph's"));
    }

    /** An entry as a tensor on the board. */
    RemoteTensor tensor(int entry) {
        return RemoteTensor.borrowed(client, entries.get(entry));
    }

    /** The function and the arguments of a node; empty if nothing has to be called. */
    Optional<Call> call(int node) {
        Node each = graph.nodes().get(node);
        if (!each.isOperator()) {
            return Optional.empty();
        }
        List<RpcValue> arguments = new ArrayList<>();
        each.inputs().forEach(input -> arguments.add(entries.get(input)));
        for (int i = 0; i < each.outputs(); i++) {
            arguments.add(entries.get(each.first() + i));
        }
        return Optional.of(new Call(functions.get(each.function()), arguments));
    }

    /** A call that a node stands for. */
    record Call(RemoteFunction function, List<RpcValue> arguments) {
        void run() {
            function.call(arguments);
        }
    }

    /** A time evaluator for a node, which must be an operator. */
    TimeEvaluator evaluator(int node, TimeEvaluator.Settings settings) {
        return TimeEvaluator.of(client, library, graph.nodes().get(node).function(), settings);
    }

    public void run() {
        for (int i = 0; i < graph.nodes().size(); i++) {
            call(i).ifPresent(Call::run);
        }
    }

    /** Sets all inputs but loaded parameters, in order, runs, and returns the outputs. */
    public List<Bytes> runFromInputs(List<Bytes> given) {
        List<String> names = List.copyOf(inputInfo().keySet());
        for (int i = 0; i < given.size(); i++) {
            setInput(names.get(i), given.get(i));
        }
        run();
        List<Bytes> outputs = new ArrayList<>();
        for (int i = 0; i < numOutputs(); i++) {
            outputs.add(getOutput(i));
        }
        return List.copyOf(outputs);
    }

    @Override
    public List<Bytes> run(List<Bytes> given) {
        return runFromInputs(given);
    }

    @Override
    public List<Integer> inputBytes() {
        return inputInfo().values().stream().map(entry -> (int) entry.bytes()).toList();
    }

    @Override
    public List<Integer> outputBytes() {
        return outputInfo().stream().map(entry -> (int) entry.bytes()).toList();
    }

    /** Frees the memory on the board. */
    @Override
    public void close() {
        blocks.forEach(RemoteTensor::close);
    }
}
