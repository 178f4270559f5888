// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.farm.link.FarmMessage.Manner;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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

    /** What members ask of a farm's broker, beside jobs. A message is the order and two texts, each on a line. */
    public enum FarmOrder {
        /** To tell the farm's state. */
        STATE,
        /** To give no jobs to a worker or a board; the texts are its name and why. */
        HOLD,
        /** To give jobs to it again. */
        RELEASE,
        /** To note that a worker gave a wrong answer; the texts are the job and what was wrong. */
        COMPLAIN,
        /** To note that a member got a message that nobody of a farm sends; the texts are the queue and what was wrong. */
        REFUSE;

        private static final Duration PATIENCE = Duration.ofSeconds(10);
        private static final int LONGEST = 400;

        /**
         * An order as it was received.
         *
         * @param order what is asked
         * @param what the first text
         * @param why the second text
         */
        public record Asked(FarmOrder order, String what, String why) {}

        /**
         * Sends an order.
         *
         * @param client id of who sends it
         */
        public void send(FarmLink link, String client, String what, String why) {
            String text = ParameterValue.text(this) + "\n" + line(what) + "\n" + line(why);
            link.send(
                    FarmQueues.QUESTIONS,
                    new FarmMessage(Map.of(FarmQueues.CLIENT, client), Bytes.ofText(text), Manner.fleeting(PATIENCE)));
        }

        private static String line(String text) {
            String flat = text.replaceAll("\\s+", " ").strip();
            return flat.substring(0, Math.min(LONGEST, flat.length()));
        }

        /** Reads an order; empty if it is none. */
        public static Optional<Asked> read(Bytes body) {
            if (body.size() > LONGEST * 8) {
                return Optional.empty();
            }
            String[] lines = body.text().split("\n", -1);
            return Stream.of(values())
                    .filter(order -> ParameterValue.text(order).equals(lines[0]))
                    .filter(order -> lines.length == 3 && lines[1].length() <= LONGEST && lines[2].length() <= LONGEST)
                    .findFirst()
                    .map(order -> new Asked(order, lines[1], lines[2]));
        }
    }
}
