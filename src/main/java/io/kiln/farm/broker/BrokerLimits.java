// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.farm.link.FarmQueues;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQIllegalStateException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyServerConnection;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;
import org.apache.activemq.artemis.core.transaction.Transaction;

/** Tells the guard of a connection that it has a session now, and bounds messages. */
final class BrokerLimits implements ActiveMQServerPlugin {
    /** A session exists only after the broker knows who it is for. */
    @Override
    public void afterCreateSession(ServerSession session) {
        if (session.getRemotingConnection().getTransportConnection() instanceof NettyServerConnection netty
                && netty.getNettyChannel().pipeline().get(BrokerPort.GUARD) instanceof PacketGuard guard) {
            guard.admit(FarmQueues.MOST_PACKET_BYTES);
        }
    }

    @Override
    public void beforeSend(
            ServerSession session, Transaction tx, Message message, boolean direct, boolean noAutoCreateQueue)
            throws ActiveMQException {
        if (message.getWholeMessageSize() > FarmQueues.MOST_PACKET_BYTES) {
            throw new ActiveMQIllegalStateException(
                    "refused: a message of more than " + FarmQueues.MOST_PACKET_BYTES + " bytes");
        }
    }
}
