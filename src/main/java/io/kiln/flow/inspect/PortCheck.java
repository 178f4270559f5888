// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.base.KilnException;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.Transport;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Finds out what a program at the other end of a port speaks, by asking it. */
final class PortCheck {
    private static final Duration TO_START = Duration.ofSeconds(3);
    private static final Duration TO_ANSWER = Duration.ofSeconds(2);

    private final Supplier<Transport> port;
    private final TransportTimeouts timeouts;

    /**
     * A check.
     *
     * @param port opens the port; each question opens it anew, because a port has one reader
     */
    PortCheck(Supplier<Transport> port) {
        this(port, new TransportTimeouts(TO_ANSWER, TO_START, TO_ANSWER));
    }

    PortCheck(Supplier<Transport> port, TransportTimeouts timeouts) {
        this.port = port;
        this.timeouts = timeouts;
    }

    /**
     * The protocol spoken there, as a sentence about the port.
     *
     * @throws KilnException if the port cannot be opened
     */
    String verdict() {
        return rpc().or(this::console).orElse("nothing answers, neither to RPC nor to the console protocol");
    }

    private Optional<String> rpc() {
        try (Transport line = port.get()) {
            return rpc(line);
        }
    }

    private Optional<String> rpc(Transport line) {
        try (RpcClient client = RpcClient.connect(line, timeouts, text -> {})) {
            return Optional.of("speaks RPC, version " + RpcClient.VERSION + ", in packets of up to "
                    + client.mostPacketBytes() + " bytes");
        } catch (KilnException e) {
            // The program does not speak RPC: that is a result, not an error.
            return Optional.empty();
        }
    }

    private Optional<String> console() {
        try (Transport line = port.get()) {
            return console(line);
        }
    }

    private Optional<String> console(Transport line) {
        try (ModelSession session = new ConsoleProtocol(timeouts.sessionEstablished()).connect(line, text -> {})) {
            return Optional.of("speaks the console protocol, not RPC; models "
                    + session.models().stream().map(Model::name).toList());
        } catch (KilnException e) {
            // The program does not speak the console protocol: that is a result, too.
            return Optional.empty();
        }
    }
}
