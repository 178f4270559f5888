// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import io.kiln.artifact.GraphFile;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.ImageEnd;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.GraphExecutor;
import io.kiln.device.rpc.client.RemoteModel;
import io.kiln.device.rpc.client.RemoteModule;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * microTVM's RPC: models are driven by the server's AOT executor, or node by node where this computer has their graph.
 *
 * @param limit longest time to each reply if none is set, zero for ever
 * @param limits what is set
 * @param models names of the models to look for; a server cannot list them
 * @param graphs of those among them that have one, by name
 */
public record RpcProtocol(Duration limit, SessionLimits limits, List<String> models, Map<String, HostGraph> graphs)
        implements Protocol {
    public RpcProtocol {
        models = List.copyOf(models);
        graphs = Map.copyOf(graphs);
    }

    /** The protocol of models that the AOT executor drives. */
    public RpcProtocol(Duration limit, List<String> models) {
        this(limit, SessionLimits.USUAL, models, Map.of());
    }

    @Override
    public ModelSession connect(Transport transport, Consumer<String> text) {
        TransportTimeouts timeouts = TransportTimeouts.of(limits, transport.ownsProgram(), limit);
        RpcClient client = RpcClient.connect(transport, timeouts, line -> text.accept(line + "\n"), text);
        return new RpcModelSession(client, models, graphs);
    }

    /** Models of an image with an RPC server, one executor at a time. */
    private static final class RpcModelSession implements ModelSession {
        private static final Duration TO_LEAVE = Duration.ofSeconds(2);

        private final RpcClient client;
        private final List<String> names;
        private final Map<String, HostGraph> graphs;
        private Optional<RemoteModule> library = Optional.empty();
        private Optional<Open> open = Optional.empty();
        private OptionalLong stackUsed = OptionalLong.empty();

        private record Open(String model, RemoteModel executor) {}

        RpcModelSession(RpcClient client, List<String> names, Map<String, HostGraph> graphs) {
            this.client = client;
            this.names = names;
            this.graphs = graphs;
        }

        @Override
        public List<Model> models() {
            List<Model> models = new ArrayList<>();
            for (String name : names) {
                find(name)
                        .ifPresent(
                                executor -> models.add(new Model(name, executor.inputBytes(), executor.outputBytes())));
            }
            return List.copyOf(models);
        }

        /** The executor of a model; empty if the image has no such model. */
        private Optional<RemoteModel> find(String name) {
            String function = Optional.ofNullable(graphs.get(name))
                    .flatMap(host -> host.graph().functions().stream().findFirst())
                    .orElse(new InterfaceNames(name).metadata());
            return library().function(function).map(found -> executor(name));
        }

        private RemoteModel executor(String name) {
            if (open.filter(each -> each.model().equals(name)).isEmpty()) {
                free();
                open = Optional.of(new Open(name, create(name)));
            }
            return open.get().executor();
        }

        private RemoteModel create(String name) {
            if (!graphs.containsKey(name)) {
                return AotExecutor.create(client, library(), new InterfaceNames(name).lowerCase());
            }
            HostGraph host = graphs.get(name);
            GraphExecutor executor = GraphExecutor.create(client, library(), host.graph());
            try {
                executor.loadParams(host.parameters());
                return executor;
            } catch (KilnException e) {
                executor.close();
                throw e;
            }
        }

        private RemoteModule library() {
            if (library.isEmpty()) {
                library = Optional.of(client.systemLibrary());
            }
            return library.get();
        }

        private void free() {
            Optional<Open> before = open;
            open = Optional.empty();
            before.ifPresent(each -> each.executor().close());
        }

        @Override
        public List<Bytes> run(int index, Model model, List<Bytes> inputs) {
            List<Integer> given = inputs.stream().map(Bytes::size).toList();
            if (!given.equals(model.inputBytes())) {
                throw Failure.RPC.exception(
                        "model " + model.name() + " was given inputs of " + given + " bytes",
                        RpcException.WHERE,
                        model.inputBytes() + " bytes");
            }
            List<Bytes> outputs = executor(model.name()).run(inputs);
            List<Integer> answered = outputs.stream().map(Bytes::size).toList();
            if (!answered.equals(model.outputBytes())) {
                throw RpcException.malformed(
                        "model " + model.name() + " answered " + answered + " bytes", model.outputBytes() + " bytes");
            }
            return outputs;
        }

        /** Ends the server. A board's program that does not say that it ends is waited for two seconds at most. */
        @Override
        public void exit() {
            free();
            client.shutdown();
            Optional<ImageEnd> end = client.awaitEnd(TO_LEAVE);
            if (end.isPresent() && end.get().code() != 0) {
                throw new RpcException(
                        Kind.LINE_CLOSED,
                        Failure.RPC.problem(
                                "the image ended with code " + end.get().code(), RpcException.WHERE, "code 0"));
            }
            stackUsed = end.map(ImageEnd::stackUsed).orElse(OptionalLong.empty());
        }

        @Override
        public OptionalLong stackUsed() {
            return stackUsed;
        }

        /** Frees what this session allocated on the board, unless the session is over already, and stops listening. */
        @Override
        public void close() {
            try (client) {
                free();
            } catch (KilnException e) {
                // The server or the next host frees it; the first failure was thrown already.
                open = Optional.empty();
            }
        }
    }

    /**
     * A model's graph that a host walks, calling the board operator by operator.
     *
     * @param parameters the file with the values of its parameters
     */
    public record HostGraph(GraphFile graph, Bytes parameters) {}
}
