// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.core.config.BridgeConfiguration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.impl.ActiveMQServerImpl;
import org.apache.commons.io.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A broker is nothing but the queues of a farm, whatever its engine was told by others. */
final class FarmBrokerTest {
    private static final FarmAddress HERE = FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER);

    @TempDir
    private Path home;

    /** The engine reads properties of the JVM: whatever they make of it, a farm is nothing but its queues. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "divertConfigurations.x.address=kiln.jobs,divertConfigurations.x.forwardingAddress=kiln.dead",
                "federationDownstreamAuthorization=x",
                "acceptorConfigurations.x.factoryClassName="
                        + "org.apache.activemq.artemis.core.remoting.impl.invm.InVMAcceptorFactory,"
                        + "acceptorConfigurations.x.params.serverId=77"
            })
    void a_broker_that_does_more_than_it_should_does_not_start(String properties) {
        for (String property : properties.split(",", -1)) {
            String[] pair = property.split("=", -1);
            System.setProperty("brokerconfig." + pair[0], pair[1]);
        }
        try {
            assertThatThrownBy(() -> FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {}))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("something adds to its configuration");
        } finally {
            for (String property : properties.split(",", -1)) {
                System.clearProperty("brokerconfig." + property.split("=", -1)[0]);
            }
        }
    }

    /** Two causes that keep the engine from serving, and what each says. */
    @Test
    void a_broker_that_cannot_have_its_folder_says_why() throws Exception {
        try (FarmBroker first = FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {})) {
            assertThat(first.fault()).isEmpty();
            assertThatThrownBy(() -> FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {}))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("another broker uses " + home.resolve("farm"));
        }
        Path broken = Files.createDirectories(home.resolve("broken")).resolve("bindings");
        Files.writeString(broken, "a file in place of the folder");
        assertThatThrownBy(() -> FarmBroker.start(home.resolve("broken"), HERE, new KeptLog(), event -> {}))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(broken.toString());
    }

    private static FarmMessage message(String unique) {
        return new FarmMessage(
                Map.of("job", unique), Bytes.wrap(new byte[90_000]), Manner.once(unique, Duration.ofMinutes(5)));
    }

    private static void until(BooleanSupplier holds) throws InterruptedException {
        for (int i = 0; i < 1200 && !holds.getAsBoolean(); i++) {
            Thread.sleep(50);
        }
        assertThat(holds.getAsBoolean()).isTrue();
    }

    /** If jobs took all of the disk, workers could not answer, and none of them would ever leave. */
    @Test
    void jobs_leave_room_on_the_disk_for_answers() throws Exception {
        FileStore disk = Files.getFileStore(home);
        long used = 100 - 100 * disk.getUsableSpace() / disk.getTotalSpace();
        System.setProperty("brokerconfig.maxDiskUsage", String.valueOf(used + 5));
        CompletableFuture<Void> sending = new CompletableFuture<>();
        try (FarmBroker broker = FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {})) {
            until(() -> broker.fullDisk().isPresent());
            assertThat(broker.fullDisk().orElseThrow()).endsWith("percent, so no more jobs are taken");
            sending.completeAsync(
                    () -> {
                        try (FarmLink link = FarmLink.open(broker.address())) {
                            link.send(FarmQueues.JOBS, message("a job"));
                        }
                        return null;
                    },
                    work -> new Thread(work, "sending").start());
            try (FarmLink link = FarmLink.open(broker.address())) {
                for (int i = 0; i < 100; i++) {
                    link.send(FarmQueues.ANSWERS, message("answer " + i));
                }
            }
            // It waits, or has already waited for as long as a member waits for any call.
            assertThat(sending.isDone()).isEqualTo(sending.isCompletedExceptionally());
            // Nobody asked for the answers, so they leave; then the journal is written anew.
            Path journal = home.resolve("farm").resolve("journal");
            until(() -> FileUtils.sizeOfDirectory(journal.toFile()) < 8_000_000);
        } finally {
            System.clearProperty("brokerconfig.maxDiskUsage");
        }
        assertThatThrownBy(sending::join).hasRootCauseInstanceOf(ActiveMQException.class);
    }

    /** The engine ends by itself, in a thread of its own, when it cannot write; whoever asks is told why. */
    @Test
    void a_broker_whose_disk_fails_says_so() throws Exception {
        try (FarmBroker broker = FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {});
                FarmLink link = broker.link()) {
            Path journal = home.resolve("farm").resolve("journal");
            FileUtils.deleteDirectory(journal.toFile());
            Files.writeString(journal, "a file in place of the folder");
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            link.send(FarmQueues.JOBS, message("" + i));
                        }
                    })
                    .isInstanceOf(KilnException.class);
            assertThat(broker.isActive()).isFalse();
            assertThat(broker.fault()).hasValueSatisfying(why -> assertThat(why).contains(journal.toString()));
        }
    }

    /** The engine alone with the folder of a farm, as somebody who managed it could change it. */
    private ActiveMQServerImpl engine() throws Exception {
        Path farm = home.resolve("farm").toAbsolutePath();
        ActiveMQServerImpl server = new ActiveMQServerImpl(new ConfigurationImpl()
                .setName("kiln")
                .setSecurityEnabled(false)
                .setJMXManagementEnabled(false)
                .setJournalType(JournalType.NIO)
                .setJournalFileSize(1 << 20)
                .setJournalDirectory(farm.resolve("journal").toString())
                .setBindingsDirectory(farm.resolve("bindings").toString())
                .setLargeMessagesDirectory(farm.resolve("large").toString())
                .setPagingDirectory(farm.resolve("paging").toString()));
        server.start();
        return server;
    }

    /** A message may be larger than a file of the journal; the engine stores and sends it in another way then. */
    @ParameterizedTest
    @ValueSource(ints = {0, 90_000, 400_000, 1_000_000, 3_000_000, FarmQueues.MOST_BYTES})
    void messages_of_any_size_arrive(int size) {
        byte[] content = new byte[size];
        new Random(size).nextBytes(content);
        try (FarmBroker broker = FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {});
                FarmLink link = FarmLink.open(broker.address())) {
            Map<String, String> properties = Map.of(FarmQueues.CLIENT, "b");
            link.send(
                    FarmQueues.JOBS,
                    new FarmMessage(properties, Bytes.wrap(content), Manner.once("a", Duration.ofMinutes(1))));
            try (FarmInbox inbox = link.inbox(FarmQueues.JOBS, FarmQueues.CLIENT + " = 'b'")) {
                FarmInbox.Received received =
                        inbox.receive(Duration.ofSeconds(20)).orElseThrow();
                assertThat(received.message().body().toArray()).isEqualTo(content);
                received.done().run();
            }
            assertThat(broker.link().count(FarmQueues.JOBS)).hasValue(0);
        }
    }

    /** As the page "Operate a farm" says. */
    @Test
    void a_copy_of_the_folder_is_a_backup_of_the_queues() throws Exception {
        try (FarmBroker broker = FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {});
                FarmLink link = broker.link()) {
            Manner manner = Manner.once("1", Duration.ofMinutes(5));
            link.send(FarmQueues.JOBS, new FarmMessage(Map.of("job", "1"), Bytes.ofText("kept"), manner));
            broker.desk().hold("bench/left", false, "new cable");
        }
        FileUtils.copyDirectory(
                home.resolve("farm").toFile(), home.resolve("backup").toFile());
        for (String folder : List.of("farm", "backup")) {
            List<String> found = new ArrayList<>();
            try (FarmBroker broker =
                    FarmBroker.start(home.resolve(folder), HERE, new KeptLog(), event -> found.add(event.text()))) {
                assertThat(broker.link().count(FarmQueues.JOBS)).hasValue(1);
                assertThat(broker.desk().held()).hasSize(1);
                assertThat(found).containsExactly("event=job_sent job=1");
            }
        }
    }

    @Test
    void a_folder_with_another_queue_is_refused() throws Exception {
        FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {}).close();
        ActiveMQServerImpl engine = engine();
        engine.createQueue(QueueConfiguration.of("spy").setAddress("kiln.jobs").setRoutingType(RoutingType.MULTICAST));
        engine.stop();
        assertThatThrownBy(() -> FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {}))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("{other queues=[spy]}");
    }

    /** It would run before the broker looks for others. */
    @Test
    void a_bridge_that_the_folder_has_kept_connects_to_nobody() throws Exception {
        FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {}).close();
        try (ServerSocket stranger = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            stranger.setSoTimeout(2000);
            ActiveMQServerImpl engine = engine();
            engine.getActiveMQServerControl().addConnector("away", "tcp://127.0.0.1:" + stranger.getLocalPort());
            engine.deployBridge(new BridgeConfiguration()
                    .setName("spy")
                    .setQueueName(FarmQueues.JOBS)
                    .setRetryInterval(50)
                    .setStaticConnectors(List.of("away")));
            stranger.accept().close();
            engine.stop();
            assertThatThrownBy(() -> FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {}))
                    .isInstanceOf(KilnException.class);
            assertThatThrownBy(stranger::accept).isInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void starts_leave_no_addresses_behind() throws Exception {
        for (int i = 0; i < 3; i++) {
            FarmBroker.start(home.resolve("farm"), HERE, new KeptLog(), event -> {})
                    .close();
        }
        ActiveMQServerImpl engine = engine();
        assertThat(engine.getPostOffice().getAddresses())
                .extracting(SimpleString::toString)
                .filteredOn(name -> !name.startsWith("kiln."))
                .hasSizeLessThan(4);
        engine.stop();
    }
}
