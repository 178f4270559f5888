// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A message of one of a farm's queues.
 *
 * @param properties what consumers select by
 * @param body its content
 * @param manner how it is kept
 */
public record FarmMessage(Map<String, String> properties, Bytes body, Manner manner) {
    public FarmMessage {
        properties = Map.copyOf(properties);
    }

    /**
     * How a message is kept.
     *
     * @param isDurable whether it outlives the broker's process
     * @param lifetime after which it vanishes; empty for never
     * @param unique of messages to one queue with equal texts the broker keeps the first; empty to keep all
     * @param priority 0 to 9, which is received first
     */
    public record Manner(boolean isDurable, Optional<Duration> lifetime, Optional<String> unique, int priority) {
        static final int USUAL = 4;
        static final int MOST = 9;

        /** A message that the broker keeps once, whatever happens. */
        public static Manner once(String unique, Duration lifetime) {
            return new Manner(true, Optional.of(lifetime), Optional.of(unique), USUAL);
        }

        /** The same with another priority. */
        public Manner at(int otherPriority) {
            return new Manner(isDurable, lifetime, unique, otherPriority);
        }

        /** A message that is of no use later. */
        public static Manner fleeting(Duration lifetime) {
            return new Manner(false, Optional.of(lifetime), Optional.empty(), USUAL);
        }
    }

    /** @throws KilnException if it is larger than any member may send */
    void requireSendable(String broker) {
        if (body.size() > FarmQueues.MOST_BYTES) {
            throw Failure.FARM.exception(
                    "a message of " + body.size() + " bytes is too large for a farm",
                    broker,
                    FarmQueues.MOST_BYTES + " bytes or less",
                    "Run it on this computer: leave kiln.farm out");
        }
    }

    /** A property; empty if there is none. */
    public String property(String name) {
        return properties.getOrDefault(name, "");
    }
}
