// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.state.FarmFailure;
import io.kiln.farm.state.FarmKeeper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A member that uses the engine for more than a farm does is refused, and the others go on. */
final class FarmMembersTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SECRET = "tea and scones";

    private static final String CONDITION = "place = 'emulator' AND board IN ('a', 'b.c_d-1')";
    private static final FarmMember WORKER = new FarmMember("1.0.0", "w", "0");
    private static final Set<Byte> BEFORE_LOGIN = Set.of((byte) 113, (byte) -18, (byte) 30);

    @TempDir
    private Path folder;

    private FarmBroker broker;
    private final KeptLog log = new KeptLog();

    @BeforeEach
    void start() {
        broker = FarmBroker.start(
                folder, FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER), log, event -> {});
    }

    /** A job of another member comes and goes. */
    @AfterEach
    void goesOn() {
        try (FarmLink link = FarmLink.open(broker.address(), WORKER)) {
            job(link);
        }
        assertThat(broker.link().count(FarmQueues.JOBS)).hasValue(0);
        broker.close();
    }

    private static void job(FarmLink link) {
        try (FarmInbox inbox = link.inbox(FarmQueues.JOBS, CONDITION)) {
            Map<String, String> properties = Map.of("place", "emulator", "board", "b.c_d-1", "job", "1", "client", "2");
            link.send(
                    FarmQueues.JOBS,
                    new FarmMessage(
                            properties,
                            Bytes.ofText("x"),
                            Manner.once(UUID.randomUUID().toString(), PATIENCE)));
            inbox.receive(PATIENCE).orElseThrow().done().run();
        }
    }

    @Test
    void there_are_500_connections_at_most() throws IOException {
        List<RawMember> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < 520; i++) {
                strangers.add(RawMember.connect(broker.address().port(), Optional.empty()));
            }
            for (RawMember tooMany : strangers.subList(500, 520)) {
                assertThat(tooMany.isEnded()).isTrue();
            }
            assertThat(log.warnings()).hasSize(20).allMatch(line -> line.endsWith(": there are 500 connections"));
        } finally {
            for (RawMember stranger : strangers) {
                stranger.close();
            }
        }
    }

    @Test
    void who_says_nothing_is_gone() throws IOException {
        try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
            assertThat(member.login(FarmLink.USER, SECRET)).isTrue();
            assertThat(member.isEnded()).isTrue();
        }
    }

    /** What somebody does with the engine's own client. */
    private interface Use {
        void of(ClientSession session) throws ActiveMQException;
    }

    private void member(Use use) throws Exception {
        try (ServerLocator locator = ActiveMQClient.createServerLocator(
                        "tcp://localhost:" + broker.address().port() + "?minLargeMessageSize=2000000000"
                                + "&confirmationWindowSize=-1&reconnectAttempts=0&useTopologyForLoadBalancing=false");
                ClientSession session = locator.createSessionFactory()
                        .createSession(FarmLink.USER, SECRET, false, true, true, false, 0)) {
            session.start();
            use.of(session);
        }
    }

    /** Those that make the engine route, delay, group or remember, and those that make a receiver unpack. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "_AMQ_SCHED_DELIVERY",
                "_AMQ_ROUTE_TO",
                "_AMQ_GROUP_ID",
                "_AMQ_LARGE_SIZE",
                "_AMQ_LARGE_COMPRESSED",
                "_AMQ_BRIDGE_DUP",
                "_AMQ_LVQ_NAME",
                "_AMQ_ROUTING_TYPE",
                "JMSXGroupID",
                "jobs",
                ""
            })
    void other_properties_are_refused(String name) throws Exception {
        member(session -> {
            ClientMessage message = session.createMessage(true);
            if (name.equals("_AMQ_ROUTING_TYPE")) {
                message.putByteProperty(name, (byte) 0);
            } else if (name.equals("_AMQ_LARGE_COMPRESSED")) {
                message.putBooleanProperty(name, true);
            } else if (name.equals("_AMQ_SCHED_DELIVERY") || name.equals("_AMQ_LARGE_SIZE")) {
                message.putLongProperty(name, Integer.MAX_VALUE);
            } else if (name.equals("_AMQ_ROUTE_TO") || name.equals("_AMQ_BRIDGE_DUP")) {
                message.putBytesProperty(name, new byte[16]);
            } else {
                message.putStringProperty(name, "x");
            }
            message.getBodyBuffer().writeBytes(new byte[3 << 20]);
            try (ClientProducer producer = session.createProducer(FarmQueues.JOBS)) {
                assertThatThrownBy(() -> producer.send(message)).isInstanceOf(ActiveMQException.class);
            }
        });
        assertThat(log.warnings())
                .singleElement()
                .asString()
                .endsWith(": a message with a property that farms do not have");
        assertThat(broker.link().count(FarmQueues.JOBS)).hasValue(0);
    }

    /** The broker keeps the last texts by which it recognizes a message, on its disk as well. */
    @ParameterizedTest
    @ValueSource(strings = {"_AMQ_DUPL_ID", "job"})
    void long_properties_are_refused(String name) throws Exception {
        member(session -> {
            ClientMessage message = session.createMessage(true);
            message.putStringProperty(name, "x".repeat(300));
            try (ClientProducer producer = session.createProducer(FarmQueues.JOBS)) {
                assertThatThrownBy(() -> producer.send(message)).isInstanceOf(ActiveMQException.class);
            }
        });
        assertThat(log.warnings()).singleElement().asString().endsWith(": a malformed message");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "client LIKE '%a%a%a%a%a%a%a%a%b'",
                "XPATH '//a'",
                "REGEX('^(a+)+$', client)",
                "1 = 1",
                "client <> 'a'",
                "client = 'a' OR client = 'b'",
                "hyphenated_props:client = 'a'",
                "AMQUserID = 'a'",
                "client = 'a' AND client = 'a' AND client = 'a'",
            })
    void other_conditions_are_refused(String condition) throws Exception {
        member(session -> assertThatThrownBy(() -> session.createConsumer(FarmQueues.JOBS, condition))
                // The engine refuses what it cannot read itself.
                .hasMessageMatching(".*(a condition that farms do not have|Invalid filter: .*)"));
    }

    /** Whoever does not say which worker it is cannot be held. */
    @Test
    void jobs_are_for_workers_that_say_who_they_are() {
        FarmMessage job = new FarmMessage(
                Map.of("place", "emulator", "board", "a", "job", "9", "client", "2"),
                Bytes.ofText("x"),
                Manner.once("9", PATIENCE));
        try (FarmLink link = FarmLink.open(broker.address())) {
            link.send(FarmQueues.JOBS, job);
            for (String condition : List.of(CONDITION, "")) {
                try (FarmInbox inbox = link.inbox(FarmQueues.JOBS, condition)) {
                    assertThat(inbox.receive(Duration.ofMillis(200))).isEmpty();
                }
            }
            try (FarmInbox own = link.inbox(FarmQueues.JOBS, "client = '2'")) {
                own.receive(PATIENCE).orElseThrow().done().run();
            }
        }
    }

    /** The broker keeps the last hundred failures, and reads them whenever it tells its state. */
    @Test
    void failures_are_short() throws Exception {
        FarmFailure told = new FarmFailure("1", "b", "board", "w", "now", "x".repeat(1 << 20));
        member(session -> {
            ClientMessage message = session.createMessage(true);
            message.getBodyBuffer().writeBytes(new byte[1 << 20]);
            try (ClientProducer producer = session.createProducer(FarmQueues.FAILURES)) {
                assertThatThrownBy(() -> producer.send(message)).hasMessageContaining("refused: a failure of 1048");
            }
        });
        assertThat(broker.link().count(FarmQueues.FAILURES)).hasValue(0);
        try (FarmLink link = FarmLink.open(broker.address())) {
            FarmKeeper.fail(link, told);
        }
        assertThat(broker.link().count(FarmQueues.FAILURES)).hasValue(1);
    }

    /** The engine keeps the texts of the last 100 conditions. */
    @Test
    void only_messages_may_be_large() throws IOException {
        try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
            assertThat(member.login(FarmLink.USER, SECRET)).isTrue();
            member.say((byte) 40, RawMember.SESSION, new byte[1 << 20]);
            assertThat(member.isEnded()).isTrue();
        }
    }

    /** Its messages would be read in another way than the guard reads them. */
    @ParameterizedTest
    @ValueSource(ints = {124, 127, 128, 129})
    void an_older_form_of_messages_is_refused(int version) throws IOException {
        try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
            assertThat(member.login(FarmLink.USER, SECRET, version)).isTrue();
            member.say((byte) 71, RawMember.SESSION, new byte[40]);
            assertThat(member.isEnded()).isTrue();
        }
        assertThat(log.warnings())
                .singleElement()
                .asString()
                .endsWith(": a packet of type 71 on channel 10 before the login");
    }

    /** Each place of every packet that a member sends, and what stands there instead. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 1 << 26})
    void malformed_packets_do_no_harm(int wrong) throws Exception {
        List<byte[]> packets = packets();
        Set<Integer> types = new TreeSet<>();
        for (byte[] right : packets) {
            types.add((int) right[4]);
            for (int at = 13; at <= right.length - 4; at++) {
                byte[] bytes = right.clone();
                ByteBuffer.wrap(bytes).putInt(at, wrong);
                try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
                    assertThat(BEFORE_LOGIN.contains(right[4]) || member.login(FarmLink.USER, SECRET))
                            .isTrue();
                    member.say(bytes);
                    assertThat(member.isServed() || member.isEnded()).isTrue();
                }
            }
        }
        assertThat(types).containsExactlyInAnyOrder(-21, -20, 10, 30, 40, 41, 67, 69, 70, 71, 74, 79, 113);
        try (FarmLink link = FarmLink.open(broker.address(), WORKER);
                FarmInbox inbox = link.inbox(FarmQueues.JOBS, CONDITION)) {
            while (broker.link().count(FarmQueues.JOBS).orElse(0) > 0) {
                inbox.receive(PATIENCE).orElseThrow().done().run();
            }
        }
    }

    /** What a member sends that is asked for a job and an answer. */
    private List<byte[]> packets() throws Exception {
        byte[] all;
        try (ServerSocket between = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<byte[]> said = CompletableFuture.supplyAsync(() -> between(between));
            FarmAddress there =
                    FarmAddress.parse("tcp://localhost:" + between.getLocalPort(), DigestWorkerProgram.MEMBER);
            try (FarmLink link = FarmLink.open(there, WORKER)) {
                job(link);
            }
            all = said.get();
        }
        List<byte[]> packets = new ArrayList<>();
        ByteBuffer rest = ByteBuffer.wrap(all).position("ARTEMIS".length());
        while (rest.hasRemaining()) {
            byte[] packet = new byte[4 + rest.getInt(rest.position())];
            rest.get(packet);
            packets.add(packet);
        }
        return packets;
    }

    /** Hands over what two say to each other, and returns what the first one says. */
    private byte[] between(ServerSocket server) {
        try (Socket member = server.accept();
                Socket farm = new Socket("localhost", broker.address().port())) {
            CompletableFuture<Void> back =
                    CompletableFuture.runAsync(() -> hand(farm, member, new ByteArrayOutputStream()));
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            hand(member, farm, said);
            back.join();
            return said.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void hand(Socket from, Socket to, ByteArrayOutputStream kept) {
        try {
            byte[] some = new byte[1 << 16];
            for (int n = from.getInputStream().read(some);
                    n >= 0;
                    n = from.getInputStream().read(some)) {
                kept.write(some, 0, n);
                to.getOutputStream().write(some, 0, n);
            }
            to.shutdownOutput();
        } catch (SocketException e) {
            // One of them has left.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
