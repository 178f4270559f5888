// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.util.List;
import java.util.OptionalLong;
import org.apache.activemq.artemis.api.core.TransportConfiguration;

/** A connection to a broker, for one thread. It does not reconnect: its user opens another one when it is lost. */
public sealed interface FarmLink extends AutoCloseable permits EngineLink, AmqpLink {
    /** User name of all members; what counts is the password. */
    String USER = "kiln";

    /**
     * Connects.
     *
     * @throws FarmLost if nothing listens there, or it speaks something else
     * @throws KilnException if the broker refuses this member, or does not have what a farm needs
     */
    static FarmLink open(FarmAddress address) {
        return open(address, USER);
    }

    /** Connects as a part of a worker. */
    static FarmLink open(FarmAddress address, FarmMember member) {
        return open(address, member.user());
    }

    private static FarmLink open(FarmAddress address, String user) {
        address.requireUsable();
        return address.isForeign() ? AmqpLink.open(address, user) : EngineLink.open(address, user);
    }

    /** Connects from inside of the broker's process, with an account of its own. */
    static FarmLink inside(String url, TransportConfiguration transport, String account) {
        return EngineLink.inside(url, transport, account);
    }

    /**
     * Sends a message, and waits until the broker has it if it is durable.
     *
     * @throws KilnException if it is too large, or the broker does not take it
     */
    void send(String queue, FarmMessage message);

    /**
     * Starts to receive.
     *
     * @param filter a condition in the manner of SQL on the messages' properties; empty for all messages
     */
    FarmInbox inbox(String queue, String filter);

    /** The first messages of a queue, which stay there. */
    List<FarmMessage> browse(String queue, int most);

    /** Number of messages in a queue, with those that consumers have, but did not acknowledge; empty if the broker does not say. */
    OptionalLong count(String queue);

    /** Whether the broker is Kiln's own: it asks a desk who may have a job and whether an answer was asked for, and drops copies of messages. */
    boolean isEmbedded();

    /** Whether the connection failed or was closed. */
    boolean isLost();

    /** Ends the connection; messages that were not acknowledged go to others. */
    @Override
    void close();

    /** The broker cannot be reached, or not any more. It may be back later. */
    final class FarmLost extends KilnException {
        private static final long serialVersionUID = 1L;

        private final boolean isAbsent;

        /**
         * @param problem why, and what to do
         * @param isAbsent whether there is just no broker now
         */
        FarmLost(Problem problem, boolean isAbsent, Throwable cause) {
            super(problem, cause);
            this.isAbsent = isAbsent;
        }

        /** Whether there is just no broker now, so that waiting may help; false if it or this member has to be changed. */
        public boolean isAbsent() {
            return isAbsent;
        }

        /** A connection that ended. */
        static FarmLost later(String url, Throwable cause) {
            return new FarmLost(
                    Failure.FARM.problem("the connection to the farm's broker was lost: " + cause.getMessage(), url),
                    true,
                    cause);
        }
    }
}
