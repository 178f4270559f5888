// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.time.Duration;
import java.util.Optional;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;

/** Receives the messages of a queue one by one. */
public final class FarmInbox implements AutoCloseable {
    private final FarmLink link;
    private final ClientConsumer consumer;

    FarmInbox(FarmLink link, ClientConsumer consumer) {
        this.link = link;
        this.consumer = consumer;
    }

    /**
     * A message that the broker keeps until it is acknowledged.
     *
     * @param message its content
     * @param done acknowledges it
     */
    public record Received(FarmMessage message, Runnable done) {}

    /**
     * Waits for a message.
     *
     * @param patience longest wait, at least a millisecond
     * @throws FarmLost if the connection fails while it waits
     */
    public Optional<Received> receive(Duration patience) {
        ClientMessage next = link.engaged(() -> consumer.receive(patience.toMillis()));
        if (next == null) {
            if (link.isLost()) {
                throw link.lost();
            }
            return Optional.empty();
        }
        return Optional.of(new Received(
                FarmLink.message(next),
                () -> link.engaged(() -> {
                    next.acknowledge();
                    return true;
                })));
    }

    /** Ends receiving; a message that was not acknowledged goes back, and does not count as tried. */
    @Override
    public void close() {
        link.engaged(() -> {
            consumer.close();
            return true;
        });
    }
}
