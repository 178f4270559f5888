// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.farm.link.AmqpLink.AmqpInbox;
import io.kiln.farm.link.EngineLink.EngineInbox;
import io.kiln.farm.link.FarmLink.FarmLost;
import java.time.Duration;
import java.util.Optional;

/** Receives the messages of a queue one by one. */
public sealed interface FarmInbox extends AutoCloseable permits EngineInbox, AmqpInbox {
    /**
     * A message that the broker keeps until it is acknowledged.
     *
     * @param message its content
     * @param done acknowledges it
     */
    record Received(FarmMessage message, Runnable done) {}

    /**
     * Waits for a message.
     *
     * @param patience longest wait, at least a millisecond
     * @throws FarmLost if the connection fails while it waits
     */
    Optional<Received> receive(Duration patience);

    /** Ends receiving; a message that was not acknowledged goes back, and does not count as tried. */
    @Override
    void close();
}
