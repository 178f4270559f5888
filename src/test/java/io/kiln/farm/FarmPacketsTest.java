// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmInbox;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.config.federation.FederationDownstreamConfiguration;
import org.apache.activemq.artemis.core.protocol.core.impl.PacketImpl;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.BackupRegistrationMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.ClusterConnectMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.ConnectMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.CreateAddressMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.CreateQueueMessage_V2;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.FederationDownstreamConnectMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.ReattachSessionMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.SessionDeleteQueueMessage;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyConnectorFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever packet a stranger or a member sends, and as whoever somebody logs in, a broker does what it does for a member or ends the connection. */
final class FarmPacketsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String SECRET = "tea and scones";
    private static final String USER = "kiln";
    private static final byte[] NOTHING = new byte[40];

    /** What members send before their login, by the channel. */
    private static final Map<Integer, Long> OPENING = Map.of(10, 0L, 113, 0L, 30, 1L, -18, 1L);

    /** What they send afterwards; pings on channel 0, the rest on that of the session. */
    private static final Set<Integer> MEMBERS = Set.of(10, -20, -21, 40, 41, 81, 67, 69, 70, 71, 74, 78, 79);

    @TempDir
    private static Path folder;

    private static FarmKeys keys;
    private static SSLContext tls;
    private static final Map<Kind, FarmBroker> FARMS = new LinkedHashMap<>();
    private static final Map<Kind, FarmLink> INSIDE = new LinkedHashMap<>();
    private static final KeptLog LOG = new KeptLog();

    private ServerSocketChannel trap;

    /** Ways in which a farm admits its members. */
    enum Kind {
        LOOPBACK,
        PASSWORD,
        CERTIFICATE;

        boolean isEncrypted() {
            return this != LOOPBACK;
        }

        boolean hasPassword() {
            return this != CERTIFICATE;
        }

        FarmAccess broker() {
            return switch (this) {
                case LOOPBACK -> FarmAccess.by(SECRET);
                case PASSWORD ->
                    new FarmAccess(Optional.of(keys.store("broker")), Optional.empty(), Optional.of(SECRET));
                case CERTIFICATE -> keys.access("broker", "members", Optional.empty());
            };
        }

        FarmAccess member() {
            return switch (this) {
                case LOOPBACK -> FarmAccess.by(SECRET);
                case PASSWORD -> keys.password(SECRET);
                case CERTIFICATE -> keys.access("member", "brokers", Optional.empty());
            };
        }

        /** Somebody of whom the log says nothing yet: whoever had the same port before is forgotten. */
        RawMember connect() throws IOException {
            forgetLog();
            return RawMember.connect(port(), context());
        }

        /** The same, who has said how members begin. */
        RawMember greet() throws IOException {
            forgetLog();
            return RawMember.greet(port(), context());
        }

        private static void forgetLog() {
            LOG.said().clear();
            LOG.warnings().clear();
        }

        int port() {
            return FARMS.get(this).address().port();
        }

        Optional<SSLContext> context() {
            return isEncrypted() ? Optional.of(tls) : Optional.empty();
        }

        RawMember loggedIn() throws IOException {
            RawMember member = greet();
            assertThat(member.login(USER, SECRET)).isTrue();
            return member;
        }
    }

    @BeforeAll
    static void startFarms() throws IOException, GeneralSecurityException {
        keys = FarmKeys.make(folder);
        tls = keys.members();
        for (Kind kind : Kind.values()) {
            String url = (kind.isEncrypted() ? "tls" : "tcp") + "://localhost:0";
            FarmBroker broker = FarmBroker.start(
                    folder.resolve(kind.name()), FarmAddress.parse(url, kind.broker()), LOG, event -> {});
            FARMS.put(kind, broker);
            INSIDE.put(kind, broker.link());
            Bytes body = Bytes.ofText("kept");
            INSIDE.get(kind).send(FarmQueues.JOBS, new FarmMessage(Map.of(), body, Manner.once("a", PATIENCE)));
        }
    }

    @AfterAll
    static void stopFarms() {
        INSIDE.values().forEach(FarmLink::close);
        FARMS.values().forEach(FarmBroker::close);
    }

    /** Where a broker would connect to that does as it is told. */
    @BeforeEach
    void setTrap() throws IOException {
        trap = ServerSocketChannel.open();
        trap.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        trap.configureBlocking(false);
    }

    @AfterEach
    void isUntouched() throws IOException {
        for (FarmLink inside : INSIDE.values()) {
            assertThat(inside.count(FarmQueues.JOBS)).hasValue(1);
            for (String queue : List.of(
                    FarmQueues.ANSWERS, FarmQueues.DEAD, FarmQueues.NEWS, FarmQueues.QUESTIONS, FarmQueues.FAILURES)) {
                assertThat(inside.count(queue)).hasValue(0);
            }
        }
        assertThat(trap.accept()).isNull();
        trap.close();
    }

    /** All that fits in a byte; with TLS, where starting a connection takes long, those that the engine knows, unless {@code -Dkiln.farm.packets}. */
    private static List<Integer> types(Kind kind) {
        Set<Integer> known = Stream.of(PacketImpl.class.getFields())
                .filter(field -> field.getType() == byte.class)
                .map(FarmPacketsTest::value)
                .collect(Collectors.toSet());
        assertThat(known).hasSizeGreaterThan(90).containsAll(MEMBERS).containsAll(OPENING.keySet());
        boolean isEvery = !kind.isEncrypted() || System.getProperty("kiln.farm.packets") != null;
        return IntStream.rangeClosed(Byte.MIN_VALUE, Byte.MAX_VALUE)
                .boxed()
                .filter(type -> isEvery || known.contains(type))
                .toList();
    }

    private static int value(Field field) {
        try {
            return field.getByte(null);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The channel on which the engine takes a type. */
    private static long channel(int type) {
        if (type == -16) {
            return 4;
        }
        if (type == 125 || type == 127 || (type <= -1 && type >= -6)) {
            return 3;
        }
        if (type >= 90 && type <= 103) {
            return 2;
        }
        return (type >= 30 && type <= 36) || type == -18
                ? 1
                : (type < 30 && type > 0) || type >= 110 ? 0 : RawMember.SESSION;
    }

    @ParameterizedTest
    @EnumSource
    void a_stranger_gets_no_other_packet_through(Kind kind) throws IOException {
        for (int type : types(kind)) {
            if (OPENING.containsKey(type)) {
                try (RawMember stranger = kind.greet()) {
                    stranger.say((byte) type, OPENING.get(type), NOTHING);
                    assertThat(stranger.isServed() || stranger.isEnded()).isTrue();
                    assertThat(refusals(stranger)).isEmpty();
                }
                try (RawMember stranger = kind.greet()) {
                    stranger.say((byte) type, OPENING.get(type) + 1, NOTHING);
                    assertRefused(stranger, type, OPENING.get(type) + 1, " before the login");
                }
            } else {
                try (RawMember stranger = kind.greet()) {
                    stranger.say((byte) type, channel(type), NOTHING);
                    assertRefused(stranger, type, channel(type), " before the login");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_member_gets_no_other_packet_through(Kind kind) throws IOException {
        for (int type : types(kind)) {
            try (RawMember member = kind.loggedIn()) {
                long own = type == PacketImpl.PING ? 0 : MEMBERS.contains(type) ? RawMember.SESSION : channel(type);
                member.say((byte) type, own, NOTHING);
                if (type == PacketImpl.SESS_SEND) {
                    assertThat(member.isEnded()).isTrue();
                    assertThat(refusals(member)).containsExactly("a malformed message");
                } else if (MEMBERS.contains(type)) {
                    assertThat(member.isServed() || member.isEnded()).isTrue();
                    assertThat(refusals(member)).isEmpty();
                } else {
                    assertRefused(member, type, own, "");
                }
            }
        }
        for (int type : MEMBERS) {
            try (RawMember member = kind.loggedIn()) {
                long wrong = type == PacketImpl.PING ? RawMember.SESSION : 4;
                member.say((byte) type, wrong, NOTHING);
                assertRefused(member, type, wrong, "");
            }
        }
    }

    private static void assertRefused(RawMember peer, int type, long channel, String phase) throws IOException {
        assertThat(peer.isEnded()).isTrue();
        assertThat(refusals(peer)).containsExactly("a packet of type " + type + " on channel " + channel + phase);
    }

    /** What the log says about somebody. */
    private static List<String> refusals(RawMember peer) {
        String name = "Refused /127.0.0.1:" + peer.port() + ": ";
        return LOG.warnings().stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()))
                .toList();
    }

    /** Whole packets as the engine writes them, those of published attacks among them. */
    private List<Map.Entry<PacketImpl, Long>> attacks() throws IOException {
        int port = ((InetSocketAddress) trap.getLocalAddress()).getPort();
        TransportConfiguration here = new TransportConfiguration(
                NettyConnectorFactory.class.getName(), Map.of("host", "localhost", "port", port), "here");
        FederationDownstreamConfiguration downstream = new FederationDownstreamConfiguration();
        downstream.setName("x");
        downstream.setUpstreamConfiguration(here);
        downstream.getConnectionConfiguration().setStaticConnectors(List.of("here"));
        FederationDownstreamConnectMessage federation = new FederationDownstreamConnectMessage();
        federation.setName("x");
        federation.setStreamConfiguration(downstream);
        federation.setFederationPolicyMap(Map.of());
        SimpleString jobs = SimpleString.of(FarmQueues.JOBS);
        return List.of(
                Map.entry(federation, 4L),
                Map.entry(new ReattachSessionMessage("raw", 0), 1L),
                Map.entry(ConnectMessage.withPlainCredentials("x", 137, USER, SECRET), 1L),
                Map.entry(new ClusterConnectMessage("ACTIVEMQ.CLUSTER.ADMIN.USER", "CHANGE ME!!"), 3L),
                Map.entry(new BackupRegistrationMessage(here, "ACTIVEMQ.CLUSTER.ADMIN.USER", "CHANGE ME!!", true), 3L),
                Map.entry(new SessionDeleteQueueMessage(jobs), RawMember.SESSION),
                Map.entry(
                        new CreateAddressMessage(SimpleString.of("a"), EnumSet.of(RoutingType.ANYCAST), true, false),
                        RawMember.SESSION),
                Map.entry(
                        new CreateQueueMessage_V2(
                                QueueConfiguration.of("q")
                                        .setAddress(FarmQueues.JOBS)
                                        .setMaxConsumers(-1)
                                        .setPurgeOnNoConsumers(false)
                                        .setAutoCreated(false),
                                true),
                        RawMember.SESSION));
    }

    @ParameterizedTest
    @EnumSource
    void published_attacks_do_nothing(Kind kind) throws IOException {
        for (Map.Entry<PacketImpl, Long> attack : attacks()) {
            try (RawMember stranger = kind.greet()) {
                stranger.say(attack.getKey(), attack.getValue());
                assertRefused(stranger, attack.getKey().getType(), attack.getValue(), " before the login");
            }
            try (RawMember member = kind.loggedIn()) {
                member.say(attack.getKey(), attack.getValue());
                assertRefused(member, attack.getKey().getType(), attack.getValue(), "");
            }
        }
    }

    private record Account(String user, String password) {}

    /** Built-in accounts of the engine and of its distribution, and the right password with wrong names. */
    private static List<Account> accounts() {
        List<Account> all = new ArrayList<>();
        for (String user : new String[] {
            "ACTIVEMQ.CLUSTER.ADMIN.USER",
            "ACTIVEMQ.MANAGEMENT.ADMIN.USER",
            "guest",
            "admin",
            "artemis",
            "root",
            "amq",
            "",
            null
        }) {
            for (String password : new String[] {"CHANGE ME!!", user, "admin", "simetraehcapa", "", null, SECRET}) {
                all.add(new Account(user, password));
            }
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource
    void only_the_farms_own_account_gets_a_session(Kind kind) throws IOException {
        List<Account> wrong = new ArrayList<>(accounts());
        if (kind.hasPassword()) {
            for (String password : new String[] {null, "", USER, "tea and scones ", "TEA AND SCONES"}) {
                wrong.add(new Account(USER, password));
            }
        }
        for (Account account : wrong) {
            try (RawMember stranger = kind.greet()) {
                assertThat(stranger.login(account.user, account.password))
                        .as(account.toString())
                        .isFalse();
                stranger.say((byte) 71, RawMember.SESSION, NOTHING);
                assertRefused(stranger, 71, RawMember.SESSION, " before the login");
            }
        }
        try (RawMember stranger = kind.greet()) {
            assertThat(stranger.login(USER, SECRET + "!")).isEqualTo(!kind.hasPassword());
            stranger.say((byte) 30, 1, NOTHING);
            assertThat(stranger.isEnded()).isTrue();
        }
        kind.loggedIn().close();
    }

    @ParameterizedTest
    @EnumSource
    void a_member_sends_to_queues_of_farms_and_receives_what_is_its_own(Kind kind) {
        FarmAddress address = FarmAddress.parse(FARMS.get(kind).address().url(), kind.member());
        for (String other : List.of(
                "activemq.management",
                "activemq.notifications",
                "kiln.other",
                "kiln.jobs.more",
                "$sys.mqtt",
                "DLQ",
                "#")) {
            FarmMessage message = new FarmMessage(Map.of(), Bytes.ofText("x"), Manner.once("x", PATIENCE));
            try (FarmLink link = FarmLink.open(address)) {
                assertThatThrownBy(() -> link.send(other, message)).isInstanceOf(KilnException.class);
            }
            try (FarmLink link = FarmLink.open(address)) {
                assertThatThrownBy(() -> link.inbox(other, "")).isInstanceOf(KilnException.class);
            }
        }
        for (String queue : FarmQueues.ALL) {
            if (!queue.equals(FarmQueues.JOBS)) {
                // What others tell the farm is not for them, and neither are the answers to others.
                try (FarmLink link = FarmLink.open(address)) {
                    assertThatThrownBy(() -> link.inbox(queue, "")).isInstanceOf(KilnException.class);
                }
            }
            try (FarmLink link = FarmLink.open(address)) {
                assertThatThrownBy(() -> link.browse(queue, 1)).isInstanceOf(KilnException.class);
            }
        }
        FarmMessage message = new FarmMessage(
                Map.of(FarmQueues.JOB, "y", FarmQueues.CLIENT, "y"), Bytes.ofText("y"), Manner.once("y", PATIENCE));
        try (FarmLink link = FarmLink.open(address)) {
            assertThatThrownBy(() -> link.send(FarmQueues.DEAD, message)).isInstanceOf(KilnException.class);
        }
        try (FarmLink link = FarmLink.open(address);
                FarmInbox inbox = link.inbox(FarmQueues.JOBS, FarmQueues.CLIENT + " = 'y'")) {
            link.send(FarmQueues.JOBS, message);
            FarmInbox.Received received = inbox.receive(PATIENCE).orElseThrow();
            received.done().run();
            assertThat(received.message().body().text()).isEqualTo("y");
            link.send(FarmQueues.NEWS, message);
        }
        try (FarmInbox news = INSIDE.get(kind).inbox(FarmQueues.NEWS, "")) {
            news.receive(PATIENCE).orElseThrow().done().run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void other_protocols_are_not_answered(Kind kind) throws IOException {
        for (String first : List.of(
                "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
                "POST / HTTP/1.1\r\nContent-Length: 2000000000\r\n\r\n",
                "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
                "AMQP\0\1\0\0",
                "CONNECT\naccept-version:1.2\n\n\0",
                "\20\17\0\4MQTT\4\2\0\74\0\3abc",
                "\0\0\0\20\1ActiveMQ\0\0\0\1")) {
            try (RawMember stranger = kind.connect()) {
                stranger.say(first.getBytes(StandardCharsets.ISO_8859_1));
                assertThat(stranger.answerBytes()).as(first).isZero();
                assertThat(refusals(stranger)).containsExactly("another protocol");
            }
        }
    }
}
