// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.KeptLog;
import io.kiln.farm.broker.PacketGuard.MessageGuard;
import io.kiln.farm.link.FarmAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.core.message.impl.CoreMessage;
import org.apache.activemq.artemis.core.protocol.core.impl.PacketImpl;
import org.apache.activemq.artemis.core.protocol.core.impl.wireformat.SessionSendMessage_V3;
import org.junit.jupiter.api.Test;

/** The guard of a connection without a broker behind it: what it lets through, however the bytes are cut into pieces. */
final class PacketGuardTest {
    private static final byte[] GREETING = "ARTEMIS".getBytes(StandardCharsets.US_ASCII);
    private static final int LARGEST = 1 << 20;

    /** Where lengths and numbers stand in a message with a body of three bytes. */
    private static final Set<Integer> LENGTHS = Set.of(13, 29, 72, 76, 87, 93, 108);

    private final KeptLog log = new KeptLog();
    private final PacketGuard guard = new PacketGuard(log, FarmAddress.USUAL_PATIENCE);
    private final EmbeddedChannel channel = new EmbeddedChannel(guard);

    private static byte[] packet(int type, long channel, int body) {
        return ByteBuffer.allocate(13 + body)
                .putInt(9 + body)
                .put((byte) type)
                .putLong(channel)
                .array();
    }

    private static byte[] joined(byte[]... parts) {
        ByteBuf all = Unpooled.wrappedBuffer(parts);
        byte[] bytes = new byte[all.readableBytes()];
        all.readBytes(bytes);
        return bytes;
    }

    /** A packet with a message as the engine's client writes it. */
    private static byte[] message(int body) {
        CoreMessage message = new CoreMessage(1, 100);
        message.setAddress("kiln.jobs");
        message.putStringProperty("job", "1");
        message.putStringProperty("board", "b");
        message.getBodyBuffer().writeBytes(new byte[body]);
        PacketImpl packet = new SessionSendMessage_V3(message, true, null, -1);
        packet.setChannelID(10);
        ActiveMQBuffer out = packet.encode(null);
        byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return bytes;
    }

    private void say(byte[] bytes) {
        channel.writeInbound(Unpooled.wrappedBuffer(bytes));
    }

    /** All that has reached the engine. */
    private byte[] passed() {
        byte[] all = {};
        for (ByteBuf next = channel.readInbound(); next != null; next = channel.readInbound()) {
            byte[] bytes = new byte[next.readableBytes()];
            next.readBytes(bytes);
            next.release();
            all = joined(all, bytes);
        }
        return all;
    }

    private void assertRefused(String why) {
        assertThat(channel.isOpen()).isFalse();
        assertThat(log.warnings()).containsExactly("Refused embedded: " + why);
    }

    @Test
    void a_session_passes_as_it_is() {
        byte[] before = joined(GREETING, packet(113, 0, 30), packet(10, 0, 8), packet(-18, 1, 200));
        byte[] after = joined(message(200_000), packet(69, 10, 0), packet(10, 0, 8));
        say(before);
        guard.admit(LARGEST);
        say(after);
        assertThat(passed()).isEqualTo(joined(before, after));
        assertThat(channel.isOpen()).isTrue();
        assertThat(log.said()).isEmpty();
    }

    @Test
    void so_it_does_in_single_bytes() {
        byte[] before = joined(GREETING, packet(10, 0, 8), packet(30, 1, 20));
        for (byte each : before) {
            say(new byte[] {each});
        }
        assertThat(passed()).isEqualTo(before);
        say(new byte[] {0, 0, 0, 9, -16, 0, 0, 0, 0, 0, 0, 0});
        assertThat(channel.isOpen()).isTrue();
        say(new byte[] {4});
        assertRefused("a packet of type -16 on channel 4 before the login");
    }

    /** Nothing of a piece with a refused packet reaches the engine, and nothing that comes after it. */
    @Test
    void a_refused_packet_takes_its_neighbours_along() {
        say(joined(GREETING, packet(10, 0, 8), packet(32, 1, 8), packet(10, 0, 8)));
        assertRefused("a packet of type 32 on channel 1 before the login");
        assertThat(passed()).isEmpty();
    }

    @Test
    void a_login_is_tried_once_in_whatever_form() {
        say(joined(GREETING, packet(30, 1, 20)));
        say(packet(-18, 1, 20));
        assertRefused("a packet of type -18 on channel 1 before the login");
    }

    /** It would change how the engine reads packets that the guard has read in another way. */
    @Test
    void nobody_names_another_form_after_the_login() {
        say(joined(GREETING, packet(30, 1, 20), packet(113, 0, 30)));
        assertRefused("a packet of type 113 on channel 0 before the login");
    }

    @Test
    void a_member_does_not_log_in_again() {
        say(joined(GREETING, packet(30, 1, 20)));
        guard.admit(LARGEST);
        say(packet(-18, 1, 20));
        assertRefused("a packet of type -18 on channel 1");
    }

    @Test
    void lengths_are_judged_before_the_packet_has_come() {
        say(joined(GREETING, new byte[] {0, 1, 0, 1}));
        assertRefused("a packet of 65537 bytes before the login");
    }

    @Test
    void a_packet_is_no_shorter_than_its_head() {
        say(joined(GREETING, new byte[] {0, 0, 0, 8}));
        assertRefused("a packet of 8 bytes before the login");
    }

    @Test
    void negative_lengths_are_large() {
        say(joined(GREETING, new byte[] {-1, -1, -1, -1}));
        assertRefused("a packet of 4294967295 bytes before the login");
    }

    @Test
    void members_have_a_limit_too() {
        say(joined(GREETING, packet(30, 1, 20)));
        guard.admit(LARGEST);
        say(ByteBuffer.allocate(4).putInt(LARGEST + 1).array());
        assertRefused("a packet of " + (LARGEST + 1) + " bytes");
    }

    @Test
    void pings_alone_keep_no_connection() {
        say(joined(GREETING, packet(10, 0, 8)));
        channel.advanceTimeBy(FarmAddress.USUAL_PATIENCE.toSeconds(), TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertRefused("no login within 20 s");
    }

    @Test
    void a_member_has_no_deadline() {
        say(joined(GREETING, packet(30, 1, 20)));
        guard.admit(LARGEST);
        channel.advanceTimeBy(2 * FarmAddress.USUAL_PATIENCE.toSeconds(), TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(channel.isOpen()).isTrue();
    }

    private void sayMember(byte[] bytes) {
        say(joined(GREETING, packet(30, 1, 20)));
        guard.admit(LARGEST);
        passed();
        say(bytes);
    }

    @Test
    void messages_pass_in_single_bytes() {
        sayMember(new byte[0]);
        byte[] two = joined(message(0), message(3));
        for (byte each : two) {
            say(new byte[] {each});
        }
        assertThat(passed()).isEqualTo(two);
    }

    /** The engine takes a packet when its last byte has come. */
    @Test
    void the_last_byte_of_a_malformed_message_does_not_pass() {
        sayMember(new byte[0]);
        byte[] wrong = message(3);
        wrong[13 + 4 + 3 + 8] = 0;
        for (byte each : wrong) {
            say(new byte[] {each});
        }
        assertRefused("a malformed message");
        assertThat(passed()).hasSizeLessThan(wrong.length);
    }

    @Test
    void only_messages_are_large() {
        sayMember(packet(40, 10, PacketGuard.STRANGER));
        assertRefused("a packet of type 40 and " + (PacketGuard.STRANGER + 9) + " bytes");
    }

    @Test
    void no_length_of_a_message_is_taken_as_it_is() {
        byte[] right = message(3);
        for (int at : LENGTHS) {
            for (int wrong : new int[] {Integer.MIN_VALUE, -2, 1000, 1 << 26, Integer.MAX_VALUE}) {
                byte[] bytes = right.clone();
                ByteBuffer.wrap(bytes).putInt(at, wrong);
                MessageGuard one = new MessageGuard(bytes.length - 13);
                assertThat(one.problem(Unpooled.wrappedBuffer(bytes), 13, bytes.length - 13))
                        .as(at + " " + wrong)
                        .isPresent();
            }
        }
    }
}
