// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Bytes;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;

/** The bodies of received messages. */
final class MessageBodies {
    private MessageBodies() {}

    /** The whole body; empty if it is larger than any member may send. */
    static Bytes of(ClientMessage message) {
        ActiveMQBuffer buffer = message.getBodyBuffer();
        int size = buffer.readableBytes();
        if (size > FarmQueues.MOST_BYTES) {
            return Bytes.wrap(new byte[0]);
        }
        byte[] content = new byte[size];
        buffer.readBytes(content);
        return Bytes.wrap(content);
    }
}
