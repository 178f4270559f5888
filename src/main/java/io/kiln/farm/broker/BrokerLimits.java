// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.farm.link.FarmQueues;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQIllegalStateException;
import org.apache.activemq.artemis.api.core.Interceptor;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.core.protocol.core.Packet;
import org.apache.activemq.artemis.core.protocol.core.impl.PacketImpl;
import org.apache.activemq.artemis.core.remoting.impl.netty.ActiveMQFrameDecoder2;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyServerConnection;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;
import org.apache.activemq.artemis.core.transaction.Transaction;
import org.apache.activemq.artemis.spi.core.protocol.RemotingConnection;
import org.apache.activemq.artemis.spi.core.remoting.Connection;

/** Bounds what members and strangers can make the broker hold: frames, messages, and no messages in pieces. */
final class BrokerLimits implements ActiveMQServerPlugin, Interceptor {
    private static final String NAME = "kiln-frame-limit";

    /** Properties and what the engine adds to a body. */
    private static final int HEADERS = 64 << 10;

    private static final int LARGEST = FarmQueues.MOST_BYTES + HEADERS;

    @Override
    public void afterCreateConnection(RemotingConnection connection) {
        if (transport(connection) instanceof NettyServerConnection netty) {
            ChannelPipeline pipeline = netty.getNettyChannel().pipeline();
            pipeline.addBefore(pipeline.context(ActiveMQFrameDecoder2.class).name(), NAME, new FrameLimit());
        }
    }

    /** A session exists only after the broker knows who it is for. */
    @Override
    public void afterCreateSession(ServerSession session) {
        if (transport(session.getRemotingConnection()) instanceof NettyServerConnection netty) {
            Channel channel = netty.getNettyChannel();
            if (channel.pipeline().get(NAME) instanceof FrameLimit limit) {
                limit.raise(LARGEST);
            }
        }
    }

    private static Connection transport(RemotingConnection connection) {
        return connection.getTransportConnection();
    }

    @Override
    public void beforeSend(
            ServerSession session, Transaction tx, Message message, boolean direct, boolean noAutoCreateQueue)
            throws ActiveMQException {
        if (message.getWholeMessageSize() > LARGEST) {
            throw new ActiveMQIllegalStateException("refused: a message of more than " + LARGEST + " bytes");
        }
    }

    /** Messages in pieces have no bound, and no member of a farm sends them. */
    @Override
    public boolean intercept(Packet packet, RemotingConnection connection) {
        if (packet.getType() == PacketImpl.SESS_SEND_LARGE || packet.getType() == PacketImpl.SESS_SEND_CONTINUATION) {
            connection.fail(new ActiveMQIllegalStateException("refused: a message in pieces"));
            return false;
        }
        return true;
    }
}
