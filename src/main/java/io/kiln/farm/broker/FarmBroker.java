// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.link.Transports;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.remoting.impl.invm.InVMAcceptorFactory;
import org.apache.activemq.artemis.core.remoting.impl.invm.InVMConnectorFactory;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptor;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/** A broker with durable queues in a folder. */
public final class FarmBroker implements AutoCloseable {
    private static final int JOURNAL_BYTES = 10 << 20;
    private static final long FAILURES_KEPT = 100;
    private static final long EXPIRY_MILLIS = 5000;
    private static final long SILENCE_MILLIS = 15_000;
    private static final String SERVER_ID = "serverId";

    private final ActiveMQServerImpl server;
    private final FarmAddress address;
    private final TransportConfiguration inside;
    private final String own;

    private FarmBroker(ActiveMQServerImpl server, FarmAddress address, TransportConfiguration inside, String own) {
        this.server = server;
        this.address = address;
        this.inside = inside;
        this.own = own;
    }

    /**
     * Starts a broker.
     *
     * @param folder its queues; those of an earlier broker are taken over
     * @param wanted where it listens; without TLS only on this computer
     * @throws KilnException if the address is not safe or not free, or another broker has the folder
     */
    public static FarmBroker start(Path folder, FarmAddress wanted) {
        wanted.requireSafe();
        String own = UUID.randomUUID().toString();
        Map<String, Object> id = Map.of(SERVER_ID, Math.abs(own.hashCode() % 1_000_000));
        Configuration configuration = configuration(folder)
                .addAcceptorConfiguration(Transports.acceptor(wanted))
                .addAcceptorConfiguration(
                        new TransportConfiguration(InVMAcceptorFactory.class.getName(), id, "inside"));
        BrokerLimits limits = new BrokerLimits();
        configuration.registerBrokerPlugin(limits);
        ActiveMQServerImpl server = new ActiveMQServerImpl(
                configuration, new BrokerSecurity(wanted.access().password(), own));
        try {
            server.start();
            server.getRemotingService().addIncomingInterceptor(limits);
            if (!server.isActive()) {
                throw new IllegalStateException("another broker uses " + folder);
            }
            NettyAcceptor acceptor = (NettyAcceptor) server.getRemotingService().getAcceptor("members");
            FarmAddress address = wanted.at(wanted.port() == 0 ? acceptor.getActualPort() : wanted.port());
            return new FarmBroker(
                    server, address, new TransportConfiguration(InVMConnectorFactory.class.getName(), id), own);
        } catch (Exception e) {
            stop(server);
            throw new KilnException(
                    new Problem(
                            "the farm's broker cannot be started: " + e.getMessage(),
                            wanted.url() + ", " + folder,
                            "a free port, and a folder that no other broker uses",
                            ""),
                    e);
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
                .setJMXManagementEnabled(false)
                .setSecurityEnabled(true)
                .setMessageExpiryScanPeriod(EXPIRY_MILLIS)
                .setConnectionTTLOverride(SILENCE_MILLIS)
                .setPersistIDCache(true);
        configuration.putSecurityRoles("kiln.#", Set.of(BrokerSecurity.MEMBER));
        configuration.addAddressSetting("#", settings());
        configuration.addAddressSetting(
                FarmQueues.JOBS,
                settings()
                        .setMaxDeliveryAttempts(FarmQueues.TRIES)
                        .setDeadLetterAddress(SimpleString.of(FarmQueues.DEAD)));
        List.of(FarmQueues.JOBS, FarmQueues.ANSWERS, FarmQueues.DEAD, FarmQueues.NEWS, FarmQueues.QUESTIONS)
                .forEach(name -> configuration.addQueueConfiguration(queue(name)));
        configuration.addQueueConfiguration(queue(FarmQueues.FAILURES).setRingSize(FAILURES_KEPT));
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

    /** Where it listens. */
    public FarmAddress address() {
        return address;
    }

    /** A connection inside of this process. */
    public FarmLink link() {
        return FarmLink.open(address.url(), inside, Optional.of(own));
    }

    /** Ends the broker; its queues stay in the folder. */
    @Override
    public void close() {
        stop(server);
    }

    private static void stop(ActiveMQServerImpl server) {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the broker could not be stopped", e);
        }
    }
}
