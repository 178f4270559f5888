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
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.ActiveMQException;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.message.impl.CoreMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.SessionSendMessage_V3;
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

    @TempDir
    private Path folder;

    private FarmBroker broker;
    private final KeptLog log = new KeptLog();

    @BeforeEach
    void start() {
        broker = FarmBroker.start(folder, FarmAddress.parse("tcp://localhost:0", DigestWorkerProgram.MEMBER), log);
    }

    /** A job of another member comes and goes. */
    @AfterEach
    void goesOn() {
        try (FarmLink link = FarmLink.open(broker.address());
                FarmInbox inbox = link.inbox(FarmQueues.JOBS, "place = 'emulator' AND board IN ('a', 'b.c_d-1')")) {
            Map<String, String> properties = Map.of("place", "emulator", "board", "b.c_d-1", "job", "1", "client", "2");
            link.send(FarmQueues.JOBS, new FarmMessage(properties, Bytes.ofText("x"), Manner.once("z", PATIENCE)));
            inbox.receive(PATIENCE).orElseThrow().done().run();
            assertThat(broker.link().count(FarmQueues.JOBS)).isZero();
        }
        broker.close();
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
        assertThat(broker.link().count(FarmQueues.JOBS)).isZero();
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
                .isInstanceOf(ActiveMQException.class));
    }

    /** The engine keeps the texts of the last 100 conditions, and a name for each packet that it could not read. */
    @Test
    void only_messages_may_be_large() throws IOException {
        try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
            assertThat(member.login(FarmLink.USER, SECRET)).isTrue();
            member.say((byte) 40, RawMember.SESSION, new byte[1 << 20]);
            assertThat(member.isEnded()).isTrue();
        }
    }

    /** Each number of a message's encoding, and what stands for it. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE, Integer.MIN_VALUE, -1, 1 << 26, 1 << 30, 0x7f000000})
    void malformed_messages_do_no_harm(int wrong) throws IOException {
        byte[] right = encoded();
        try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
            assertThat(member.login(FarmLink.USER, SECRET)).isTrue();
            member.say((byte) 71, RawMember.SESSION, right);
            assertThat(member.isServed()).isTrue();
        }
        assertThat(broker.link().count(FarmQueues.ANSWERS)).isEqualTo(1);
        for (int at = 0; at < right.length - 4; at++) {
            byte[] bytes = right.clone();
            ByteBuffer.wrap(bytes).putInt(at, wrong);
            try (RawMember member = RawMember.greet(broker.address().port(), Optional.empty())) {
                assertThat(member.login(FarmLink.USER, SECRET)).isTrue();
                member.say((byte) 71, RawMember.SESSION, bytes);
                assertThat(member.isServed() || member.isEnded()).isTrue();
            }
        }
        System.out.println("ATTACK " + wrong + " of " + right.length + " left "
                + broker.link().count(FarmQueues.ANSWERS));
    }

    /** The body of a packet that sends. */
    private static byte[] encoded() {
        CoreMessage message = new CoreMessage(1, 100);
        message.setAddress(FarmQueues.ANSWERS);
        message.setDurable(true);
        message.putStringProperty("job", "1");
        message.putStringProperty("client", "2");
        message.getBodyBuffer().writeBytes("x".getBytes(StandardCharsets.UTF_8));
        ActiveMQBuffer out = new SessionSendMessage_V3(message, false, null, -1).encode(null);
        byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return java.util.Arrays.copyOfRange(bytes, 13, bytes.length);
    }
}
