// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.device.rpc.client.AotExecutor;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.SessionLimits;
import java.util.function.Consumer;

/**
 * A session with microTVM's RPC server in an image of {@code kiln.application=rpc}, or of TVM. One line carries one session, for one thread at
 * a time.
 */
public final class RpcSession implements AutoCloseable {
    private final RpcClient client;

    private RpcSession(RpcClient client) {
        this.client = client;
    }

    /**
     * Connects to the server. A board has 5 s to start and for each answer; an emulator has 10 s, as many times as programs share a processor of
     * this computer, twelve times at most.
     *
     * @param line an open line; it stays the caller's to close
     * @param log gets each line that the board logs
     * @return the session
     * @throws KilnFailure if no server answers
     */
    public static RpcSession connect(BoardLine line, Consumer<String> log) {
        return KilnFailure.told(() -> new RpcSession(RpcClient.connect(
                line.transport(),
                TransportTimeouts.of(SessionLimits.USUAL, line.transport().ownsProgram()),
                log)));
    }

    /**
     * Prepares a model; a server has one at a time.
     *
     * @param name the model's name, {@code kiln.name}
     * @return the model; close it before the session
     * @throws KilnFailure if the image has no such model
     */
    public RpcModel model(String name) {
        return KilnFailure.told(() -> new RpcModel(client, AotExecutor.create(client, client.systemLibrary(), name)));
    }

    /** Ends the session; the board goes on. */
    @Override
    public void close() {
        KilnFailure.told(client::close);
    }
}
