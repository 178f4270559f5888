// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc;

import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.Protocol;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
}
