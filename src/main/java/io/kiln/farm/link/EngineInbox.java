// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import java.time.Duration;
import java.util.Optional;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;

/** Receives from Kiln's own broker. */
record EngineInbox(EngineLink link, ClientConsumer consumer) implements FarmInbox {

    @Override
    public Optional<Received> receive(Duration patience) {
        ClientMessage next = link.engaged(() -> consumer.receive(patience.toMillis()));
        if (next == null) {
            if (link.isLost()) {
                throw link.lost();
            }
            return Optional.empty();
        }
        return Optional.of(new Received(
                EngineLink.message(next),
                () -> link.engaged(() -> {
                    next.acknowledge();
                    return true;
                })));
    }

    @Override
    public void close() {
        link.engaged(() -> {
            consumer.close();
            return true;
        });
    }
}
