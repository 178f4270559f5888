// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.farm.link.FarmQueues;
import java.util.regex.Pattern;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQIllegalStateException;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.config.BridgeConfiguration;
import org.apache.activemq.artemis.core.postoffice.QueueBinding;
import org.apache.activemq.artemis.core.protocol.core.CoreRemotingConnection;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyServerConnection;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;

/** Tells the guard of a connection that it has a session now, and by which conditions members may select messages. */
final class BrokerLimits implements ActiveMQServerPlugin {
    /**
     * The conditions of a farm's members: what a property is, or one of several. The engine's language has more, which it would compute for
     * each message of a queue.
     */
    private static final Pattern CONDITION =
            Pattern.compile("client = 'TEXT'|place = 'TEXT' AND board IN \\('TEXT'(, 'TEXT')*+\\)"
                    .replace("TEXT", "[A-Za-z0-9._-]{1,80}+"));

    /**
     * Admits a session's connection: a session exists only after the broker knows who it is for. Older forms of messages are others
     * than the guard reads.
     */
    @Override
    public void afterCreateSession(ServerSession session) {
        if (session.getRemotingConnection() instanceof CoreRemotingConnection core
                && !core.isVersionBeforeAsyncResponseChange()
                && session.getRemotingConnection().getTransportConnection() instanceof NettyServerConnection netty
                && netty.getNettyChannel().pipeline().get(BrokerPort.GUARD) instanceof PacketGuard guard) {
            guard.admit(FarmQueues.MOST_PACKET_BYTES);
        }
    }

    /** Refuses a bridge before it is looked for: one that the folder has kept would run as soon as the engine starts. */
    @Override
    public void beforeDeployBridge(BridgeConfiguration bridge) throws ActiveMQException {
        throw new ActiveMQIllegalStateException("refused: a bridge to another broker");
    }

    /** Answers are for those who know their own id, which is random and told to nobody else. */
    @Override
    public void beforeCreateConsumer(
            long consumer, QueueBinding queue, SimpleString condition, boolean isBrowser, boolean takesLarge)
            throws ActiveMQException {
        boolean isEverybodys =
                condition == null && queue.getQueue().getName().toString().equals(FarmQueues.ANSWERS);
        if (isEverybodys || (condition != null && !CONDITION.matcher(condition).matches())) {
            throw new ActiveMQIllegalStateException("refused: a condition that farms do not have");
        }
    }
}
