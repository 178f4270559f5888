// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.link.FarmAddress.FarmStores.PeerCertificate;
import io.kiln.farm.link.FarmAddress.LocalToken;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.handler.ssl.SslHandler;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQSecurityException;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.client.SessionFailureListener;
import org.apache.activemq.artemis.core.client.impl.ClientSessionFactoryInternal;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyConnection;

/** A connection to Kiln's own broker by the engine's protocol. */
final class EngineLink implements FarmLink {
    /** Milliseconds of silence after which a peer counts as gone. */
    private static final long SILENCE_MILLIS = 15_000;

    private static final long CALL_MILLIS = 20_000;

    private final String url;
    private final ServerLocator locator;
    private final ClientSessionFactory factory;
    private final ClientSession session;
    private final ClientProducer producer;
    private final AtomicBoolean isLost = new AtomicBoolean();

    private EngineLink(String url, ServerLocator locator, ClientSessionFactory factory, ClientSession session)
            throws ActiveMQException {
        this.url = url;
        this.locator = locator;
        this.factory = factory;
        this.session = session;
        this.producer = session.createProducer();
        session.addFailureListener(new Listener());
        session.start();
    }

    private final class Listener implements SessionFailureListener {
        @Override
        public void connectionFailed(ActiveMQException exception, boolean failedOver) {
            isLost.set(true);
        }

        @Override
        public void connectionFailed(ActiveMQException exception, boolean failedOver, String scaleDownTargetNodeID) {
            isLost.set(true);
        }

        @Override
        public void beforeReconnect(ActiveMQException exception) {
            isLost.set(true);
        }
    }

    static EngineLink open(FarmAddress address, String user) {
        return open(
                address.url(),
                Transports.connector(address),
                address.patience(),
                user,
                address.access().password(),
                failure -> BrokenLink.lost(address, failure));
    }

    /** Connects from inside of the broker's process, with an account of its own. */
    static EngineLink inside(String url, TransportConfiguration transport, String account) {
        return open(
                url,
                transport,
                FarmAddress.USUAL_PATIENCE,
                account,
                Optional.of(account),
                failure -> FarmLost.later(url, failure));
    }

    private static EngineLink open(
            String url,
            TransportConfiguration transport,
            Duration patience,
            String user,
            Optional<String> password,
            Function<Exception, FarmLost> reason) {
        ServerLocator locator = ActiveMQClient.createServerLocatorWithoutHA(transport)
                .setReconnectAttempts(0)
                .setConfirmationWindowSize(-1)
                .setInitialConnectAttempts(1)
                .setBlockOnDurableSend(true)
                .setBlockOnAcknowledge(true)
                .setAckBatchSize(0)
                .setConsumerWindowSize(0)
                .setUseTopologyForLoadBalancing(false)
                .setMinLargeMessageSize(Integer.MAX_VALUE)
                .setClientFailureCheckPeriod(SILENCE_MILLIS / 3)
                .setConnectionTTL(SILENCE_MILLIS)
                .setCallTimeout(Math.max(CALL_MILLIS, patience.toMillis()));
        try {
            // The form without the transport waits for the call's whole timeout for news of a connection that TLS has
            // ended.
            ClientSessionFactory factory = locator.createSessionFactory(transport);
            Optional<Channel> channel = channel(factory);
            AtomicBoolean isIn = new AtomicBoolean();
            if (channel.isPresent()) {
                watch(channel.get(), factory, isIn);
                requireValid(channel.get());
            }
            ClientSession session = factory.createSession(user, password.orElse(null), false, true, true, false, 0);
            isIn.set(true);
            if (channel.filter(network -> !network.isActive()).isPresent()) {
                throw new ClosedChannelException();
            }
            return new EngineLink(url, locator, factory, session);
        } catch (ActiveMQSecurityException e) {
            locator.close();
            throw new KilnException(
                    Failure.FARM.problem(
                            "the farm's broker refuses this member",
                            url,
                            url.startsWith("tcp:")
                                    ? "the password of the farm, or the file " + LocalToken.FILE
                                            + " in the kiln.home of whoever started the broker"
                                    : "the password of the farm",
                            "Set kiln.farm.password"),
                    e);
        } catch (Exception e) {
            locator.close();
            throw reason.apply(e);
        }
    }

    /** The network connection; empty inside of the broker's process. */
    private static Optional<Channel> channel(ClientSessionFactory factory) {
        return factory.getConnection().getTransportConnection() instanceof NettyConnection netty
                ? Optional.of(netty.getNettyChannel())
                : Optional.empty();
    }

    /**
     * Has the login fail when the broker ends the connection before it has read it: the engine would wait as long as for a silent broker.
     *
     * @param isIn set after the login; from then on, the engine has to notice itself
     */
    private static void watch(Channel channel, ClientSessionFactory factory, AtomicBoolean isIn) {
        ChannelFuture unused = channel.closeFuture().addListener(closed -> {
            if (!isIn.get() && factory instanceof ClientSessionFactoryInternal waiting) {
                waiting.causeExit();
            }
        });
    }

    /** Requires that the broker's certificate, if it has one, is valid today, before a password goes there. */
    private static void requireValid(Channel channel) throws CertificateException {
        SslHandler encryption = channel.pipeline().get(SslHandler.class);
        Optional<String> trouble = encryption == null
                ? Optional.empty()
                : PeerCertificate.trouble(encryption.engine().getSession(), Instant.now());
        if (trouble.isPresent()) {
            throw new CertificateException(trouble.get());
        }
    }

    @Override
    public void send(String queue, FarmMessage message) {
        message.requireSendable(url);
        ClientMessage out = session.createMessage(message.manner().isDurable());
        message.properties().forEach(out::putStringProperty);
        out.setPriority((byte) message.manner().priority());
        message.manner().lifetime().ifPresent(time -> out.setExpiration(System.currentTimeMillis() + time.toMillis()));
        message.manner()
                .unique()
                .ifPresent(text -> out.putStringProperty(Message.HDR_DUPLICATE_DETECTION_ID, SimpleString.of(text)));
        out.getBodyBuffer().writeBytes(message.body().toArray());
        engaged(() -> {
            producer.send(queue, out);
            return true;
        });
    }

    @Override
    public EngineInbox inbox(String queue, String filter) {
        ClientConsumer consumer =
                engaged(() -> filter.isEmpty() ? session.createConsumer(queue) : session.createConsumer(queue, filter));
        return new EngineInbox(this, consumer);
    }

    @Override
    public List<FarmMessage> browse(String queue, int most) {
        return engaged(() -> {
            List<FarmMessage> found = new ArrayList<>();
            try (ClientConsumer browser = session.createConsumer(queue, null, true)) {
                ClientMessage next = browser.receiveImmediate();
                while (next != null && found.size() < most) {
                    found.add(message(next));
                    next = browser.receiveImmediate();
                }
            }
            return found;
        });
    }

    @Override
    public OptionalLong count(String queue) {
        return OptionalLong.of(
                engaged(() -> session.queueQuery(SimpleString.of(queue)).getMessageCount()));
    }

    @Override
    public boolean isEmbedded() {
        return true;
    }

    static FarmMessage message(ClientMessage received) {
        Map<String, String> properties = new HashMap<>();
        for (SimpleString name : received.getPropertyNames()) {
            properties.put(name.toString(), String.valueOf(received.getObjectProperty(name)));
        }
        return new FarmMessage(
                properties,
                MessageBodies.of(received),
                new FarmMessage.Manner(
                        received.isDurable(), Optional.empty(), Optional.empty(), received.getPriority()));
    }

    @Override
    public boolean isLost() {
        return isLost.get() || session.isClosed() || factory.isClosed();
    }

    /** An operation of the engine. */
    @FunctionalInterface
    interface Call<T> {
        T get() throws ActiveMQException;
    }

    <T> T engaged(Call<T> call) {
        try {
            return call.get();
        } catch (ActiveMQSecurityException e) {
            throw new KilnException(
                    Failure.FARM.problem("the farm's broker refuses that", url, "a member's rights: " + e.getMessage()),
                    e);
        } catch (ActiveMQException e) {
            throw FarmLost.later(url, e);
        }
    }

    FarmLost lost() {
        return FarmLost.later(url, new IllegalStateException("it says nothing any more"));
    }

    @Override
    public void close() {
        isLost.set(true);
        locator.close();
    }

    /** The bodies of received messages. */
    private static final class MessageBodies {
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
}
