// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.link.Transports;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.ActiveMQIllegalStateException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.config.BridgeConfiguration;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.persistence.StorageManager;
import org.apache.activemq.artemis.core.postoffice.QueueBinding;
import org.apache.activemq.artemis.core.protocol.core.CoreRemotingConnection;
import org.apache.activemq.artemis.core.remoting.impl.invm.InVMAcceptorFactory;
import org.apache.activemq.artemis.core.remoting.impl.invm.InVMConnectorFactory;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptor;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyServerConnection;
import org.apache.activemq.artemis.core.security.CheckType;
import org.apache.activemq.artemis.core.security.Role;
import org.apache.activemq.artemis.core.server.ActiveMQLockAcquisitionTimeoutException;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.ServerSession;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;
import org.apache.activemq.artemis.core.server.plugin.ActiveMQServerPlugin;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.apache.activemq.artemis.spi.core.security.ActiveMQSecurityManager;

/** A broker with durable queues in a folder. */
public final class FarmBroker implements AutoCloseable {
    private static final int JOURNAL_BYTES = 1 << 20;
    private static final long FAILURES_KEPT = 100;
    private static final long EXPIRY_MILLIS = 5000;
    private static final long SILENCE_MILLIS = 15_000;
    private static final String SERVER_ID = "serverId";

    /** How full the disk may be, in percent; for jobs less, as {@link BrokerDesk} has it. */
    private static final int DISK_PERCENT = 90;

    private static final int DISK_LOOK_MILLIS = 1000;

    /** With fewer percent of the journal in use, the engine writes it anew beside itself, for which even a full disk has to have room. */
    private static final int JOURNAL_PERCENT = 15;

    private static final String MEMBERS = "members";
    private static final String INSIDE = "inside";

    private final Engine engine;
    private final BrokerPort port;
    private final FarmAddress address;
    private final TransportConfiguration inside;
    private final String own;

    private record Engine(ActiveMQServerImpl server, Faults faults, BrokerDesk told, FarmDesk desk) {}

    /** Why the engine does not serve: it only logs what keeps it from starting, and ends in a thread of its own when it cannot write. */
    private static final class Faults {
        private volatile Optional<Throwable> first = Optional.empty();

        void listen(ActiveMQServerImpl server) {
            server.registerActivationFailureListener(this::add);
            server.registerIOCriticalErrorListener((fault, message, file) -> add(fault));
        }

        private synchronized void add(Throwable fault) {
            if (first.isEmpty()) {
                first = Optional.of(fault);
            }
        }

        /** What the cause of all says, in its own words. */
        Optional<String> text() {
            return first.map(fault -> {
                Throwable cause = fault;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
            });
        }

        void require(ActiveMQServerImpl server, Path folder) {
            if (first.filter(fault -> fault.getCause() instanceof ActiveMQLockAcquisitionTimeoutException)
                    .isPresent()) {
                throw new IllegalStateException("another broker uses " + folder);
            }
            if (first.isPresent() || !server.isActive()) {
                throw new IllegalStateException("its engine ended: " + text().orElse("it does not say why"));
            }
        }
    }

    private FarmBroker(Engine engine, BrokerPort port, FarmAddress address, TransportConfiguration inside, String own) {
        this.engine = engine;
        this.port = port;
        this.address = address;
        this.inside = inside;
        this.own = own;
    }

    /**
     * Starts a broker.
     *
     * @param folder its queues; those of an earlier broker are taken over
     * @param wanted where it listens; without TLS only on this computer
     * @param log is told who is refused
     * @param events hears what happens to jobs
     * @throws KilnException if the address is not safe or not free, or another broker has the folder
     */
    public static FarmBroker start(Path folder, FarmAddress wanted, Log log, FarmEvents events) {
        wanted.requireSafe();
        String own = secret();
        Map<String, Object> id = Map.of(SERVER_ID, Math.abs(own.hashCode() % 1_000_000));
        Configuration configuration = configuration(folder)
                .addAcceptorConfiguration(Transports.acceptor(wanted, MEMBERS))
                .addAcceptorConfiguration(new TransportConfiguration(InVMAcceptorFactory.class.getName(), id, INSIDE));
        FarmDesk desk = new FarmDesk(folder, Clock.systemUTC(), events);
        BrokerDesk told = new BrokerDesk(desk, own);
        configuration.registerBrokerPlugin(new BrokerLimits());
        configuration.registerBrokerPlugin(told);
        ActiveMQServerImpl server = new ActiveMQServerImpl(
                configuration, new BrokerSecurity(wanted.access().password(), own));
        Faults faults = new Faults();
        faults.listen(server);
        try {
            server.start();
            faults.require(server, folder);
            requireNothingElse(server);
            removeOldAddresses(server);
            told.begin(server);
            NettyAcceptor acceptor = (NettyAcceptor) server.getRemotingService().getAcceptor(MEMBERS);
            BrokerPort port = new BrokerPort(acceptor, wanted, log);
            return new FarmBroker(
                    new Engine(server, faults, told, desk),
                    port,
                    wanted.at(port.port()),
                    new TransportConfiguration(InVMConnectorFactory.class.getName(), id),
                    own);
        } catch (Exception e) {
            told.close();
            try {
                stop(server);
            } catch (IllegalStateException other) {
                e.addSuppressed(other);
            }
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new KilnException(
                    Failure.FARM.problem(
                            "the farm's broker cannot be started: " + e.getMessage(),
                            wanted.url() + ", " + folder,
                            "a free port, and a folder that no other broker uses"),
                    e);
        }
    }

    private static String secret() {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        return HexFormat.of().formatHex(random);
    }

    /**
     * Requires that only what is configured below runs: nothing that connects to others, copies messages or takes other protocols,
     * whether properties of the JVM have added it or the folder has kept it from somebody who managed an earlier broker.
     */
    private static void requireNothingElse(ActiveMQServerImpl server) throws Exception {
        Configuration configuration = server.getConfiguration();
        Map<String, Collection<?>> others = new TreeMap<>();
        others.put("clusters", configuration.getClusterConfigurations());
        others.put("federations", configuration.getFederationConfigurations());
        others.put("allowed federations", configuration.getFederationDownstreamAuthorization());
        others.put("bridges", configuration.getBridgeConfigurations());
        others.put("diverts", configuration.getDivertConfigurations());
        others.put("connectors", configuration.getConnectorConfigurations().values());
        others.put("connector services", configuration.getConnectorServiceConfigurations());
        others.put("broker connections", configuration.getAMQPConnection());
        others.put(
                "discovery groups",
                configuration.getDiscoveryGroupConfigurations().values());
        others.put("broadcast groups", configuration.getBroadcastGroupConfigurations());
        others.put("running clusters", server.getClusterManager().getClusterConnections());
        others.put("running bridges", server.getClusterManager().getBridges().values());
        others.put("running broker connections", server.getBrokerConnections());
        StorageManager kept = server.getStorageManager();
        others.put("kept address settings", kept.recoverAddressSettings());
        others.put("kept rights", kept.recoverSecuritySettings());
        others.put("kept diverts", kept.recoverDivertConfigurations());
        others.put("kept bridges", kept.recoverBridgeConfigurations());
        others.put("kept connectors", kept.recoverConnectors());
        others.put("kept users", kept.getPersistedUsers().values());
        others.put(
                "other queues",
                server.getPostOffice()
                        .getAllBindings()
                        .map(binding -> binding.getUniqueName().toString())
                        .filter(name -> !FarmQueues.ALL.contains(name))
                        .toList());
        others.values().removeIf(Collection::isEmpty);
        Set<String> acceptors = server.getRemotingService().getAcceptors().keySet();
        if (!others.isEmpty() || !acceptors.equals(Set.of(MEMBERS, INSIDE))) {
            throw new IllegalStateException("something adds to its configuration: " + others + ", " + acceptors);
        }
    }

    /** Removes the addresses that the engine made for its own news and kept; their names are others at each start. */
    private static void removeOldAddresses(ActiveMQServerImpl server) throws Exception {
        for (SimpleString address : List.copyOf(server.getPostOffice().getAddresses())) {
            if (!FarmQueues.ALL.contains(address.toString())) {
                server.removeAddressInfo(address, null);
            }
        }
    }

    private static Configuration configuration(Path folder) {
        Path place = folder.toAbsolutePath();
        Configuration configuration = new ConfigurationImpl()
                .setName("kiln")
                .setPersistenceEnabled(true)
                .setJournalType(JournalType.NIO)
                .setJournalDirectory(place.resolve("journal").toString())
                .setBindingsDirectory(place.resolve("bindings").toString())
                .setLargeMessagesDirectory(place.resolve("large").toString())
                .setPagingDirectory(place.resolve("paging").toString())
                .setJournalFileSize(JOURNAL_BYTES)
                .setJournalMinFiles(2)
                .setJournalPoolFiles(2)
                .setJournalLockAcquisitionTimeout(1000)
                .setMaxDiskUsage(DISK_PERCENT)
                .setDiskScanPeriod(DISK_LOOK_MILLIS)
                .setJournalCompactPercentage(JOURNAL_PERCENT)
                .setJMXManagementEnabled(false)
                .setMessageCounterEnabled(false)
                .setSecurityEnabled(true)
                .setPopulateValidatedUser(false)
                .setClusterUser(secret())
                .setClusterPassword(secret())
                .setManagementAddress(SimpleString.of(secret()))
                .setManagementNotificationAddress(SimpleString.of(secret()))
                .setMessageExpiryScanPeriod(EXPIRY_MILLIS)
                .setConnectionTTLOverride(SILENCE_MILLIS)
                .setPersistIDCache(true);
        configuration.addAddressSetting("#", settings());
        configuration.addAddressSetting(
                FarmQueues.JOBS,
                settings()
                        .setMaxDeliveryAttempts(FarmQueues.TRIES)
                        .setDeadLetterAddress(SimpleString.of(FarmQueues.DEAD)));
        for (String name : FarmQueues.ALL) {
            QueueConfiguration queue = queue(name);
            configuration.putSecurityRoles(name, BrokerSecurity.of(name));
            configuration.addQueueConfiguration(
                    name.equals(FarmQueues.FAILURES) ? queue.setRingSize(FAILURES_KEPT) : queue);
        }
        return configuration;
    }

    private static AddressSettings settings() {
        return new AddressSettings()
                .setAutoCreateQueues(false)
                .setAutoCreateAddresses(false)
                .setMaxDeliveryAttempts(-1)
                .setRedeliveryDelay(0);
    }

    private static QueueConfiguration queue(String name) {
        return QueueConfiguration.of(name)
                .setAddress(name)
                .setRoutingType(RoutingType.ANYCAST)
                .setDurable(true);
    }

    /** The address on which the broker listens. */
    public FarmAddress address() {
        return address;
    }

    /** Decides which job goes where. */
    public FarmDesk desk() {
        return engine.desk();
    }

    /** Whether it serves its members. */
    public boolean isActive() {
        return engine.faults().first.isEmpty() && engine.server().isActive();
    }

    /** Why the engine has ended by itself; empty if it has not. */
    public Optional<String> fault() {
        return engine.faults().text();
    }

    /** Says that the disk is too full for more jobs; empty if it is not. */
    public Optional<String> fullDisk() {
        return engine.told().fullDisk();
    }

    /** A connection inside of this process. */
    public FarmLink link() {
        return FarmLink.inside(address.url(), inside, own);
    }

    /** Ends the broker; its queues stay in the folder. */
    @Override
    public void close() {
        port.close();
        engine.told().close();
        stop(engine.server());
    }

    private static void stop(ActiveMQServerImpl server) {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the broker could not be stopped", e);
        }
    }

    /** Tells the guard of a connection that it has a session now, and by which conditions members may select messages. */
    private static final class BrokerLimits implements ActiveMQServerPlugin {
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
            if (isEverybodys
                    || (condition != null && !CONDITION.matcher(condition).matches())) {
                throw new ActiveMQIllegalStateException("refused: a condition that farms do not have");
            }
        }
    }

    /**
     * Access control of the broker. There are two accounts: the members', and that of this process, whose name and password are random. Neither may make
     * queues or manage the broker. Members may send to the farm's queues, but for that of dead jobs, and receive jobs and answers; what others tell
     * the farm is for this process. If the farm has no password, TLS has let in only members whose certificates the broker trusts.
     *
     * @param password what members have to know
     * @param own name and password of this process
     */
    private record BrokerSecurity(Optional<String> password, String own) implements ActiveMQSecurityManager {
        private static final String KEEPER = "keeper";

        /** The rights on a queue. */
        static Set<Role> of(String queue) {
            boolean hasTheirs = queue.equals(FarmQueues.JOBS) || queue.equals(FarmQueues.ANSWERS);
            return Set.of(
                    role(KEEPER, true, true, true), role("member", !queue.equals(FarmQueues.DEAD), hasTheirs, false));
        }

        private static Role role(String name, boolean sends, boolean receives, boolean browses) {
            return new Role(
                    name, sends, receives, false, false, false, false, false, browses, false, false, false, false);
        }

        @Override
        public boolean validateUser(String user, String given) {
            if (equal(user, own)) {
                return equal(given, own);
            }
            return (equal(user, FarmLink.USER)
                            || (user != null && FarmMember.of(user).isPresent()))
                    && password.map(known -> equal(given, known)).orElse(true);
        }

        @Override
        public boolean validateUserAndRole(String user, String given, Set<Role> roles, CheckType type) {
            return validateUser(user, given)
                    && roles.stream()
                            .filter(role -> role.getName().equals(KEEPER) == equal(user, own))
                            .anyMatch(type::hasRole);
        }

        /** Compares two texts, for as long if they differ as if they are equal. */
        private static boolean equal(String given, String known) {
            return given != null
                    && MessageDigest.isEqual(
                            given.getBytes(StandardCharsets.UTF_8), known.getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * The port of a broker. The engine's own would look for HTTP, WebSockets and a proxy's headers in the first bytes of a connection; this one puts TLS
     * and a {@link PacketGuard} before the engine, and hands over what passes them.
     */
    private static final class BrokerPort implements AutoCloseable {
        /** Name of the guard in a connection's pipeline. */
        static final String GUARD = "kiln-packet-guard";

        private static final int CONNECTIONS = 500;
        private static final int THREADS = 4;
        private static final long END_SECONDS = 5;

        private final EventLoopGroup threads = new NioEventLoopGroup(THREADS);
        private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        private final NettyAcceptor engine;
        private final boolean isEncrypted;
        private final Log log;
        private final Duration patience;
        private final Channel listening;

        /**
         * Listens on an address.
         *
         * @param engine takes the connections; it has the keys and certificates for TLS
         * @param log is told who is refused
         * @throws InterruptedException if the thread is interrupted meanwhile
         */
        BrokerPort(NettyAcceptor engine, FarmAddress address, Log log) throws InterruptedException {
            this.engine = engine;
            this.isEncrypted = address.isEncrypted();
            this.log = log;
            this.patience = address.patience();
            ServerBootstrap server = new ServerBootstrap()
                    .group(threads)
                    .channel(NioServerSocketChannel.class)
                    .option(ChannelOption.SO_REUSEADDR, true)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childOption(ChannelOption.SO_KEEPALIVE, true)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) throws Exception {
                            accept(channel);
                        }
                    });
            try {
                this.listening = server.bind(new InetSocketAddress(address.bareHost(), address.port()))
                        .sync()
                        .channel();
            } catch (Throwable e) {
                end();
                throw e;
            }
        }

        private void accept(Channel channel) throws Exception {
            if (connections.size() >= CONNECTIONS) {
                log.warn("Refused " + channel.remoteAddress() + ": there are " + CONNECTIONS + " connections");
                ChannelFuture unused = channel.close();
                return;
            }
            connections.add(channel);
            if (isEncrypted) {
                channel.pipeline().addLast(engine.getSslHandler(channel.alloc(), null, 0));
            }
            channel.pipeline().addLast(GUARD, new PacketGuard(log, patience));
            engine.transfer(channel);
        }

        int port() {
            return ((InetSocketAddress) listening.localAddress()).getPort();
        }

        /** Ends all connections, and takes no more. */
        @Override
        public void close() {
            listening.close().awaitUninterruptibly();
            connections.close().awaitUninterruptibly();
            end();
        }

        private void end() {
            threads.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
