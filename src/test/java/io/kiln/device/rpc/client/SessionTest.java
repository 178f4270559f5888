// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.client.Connection.Session;
import io.kiln.device.rpc.client.Connection.Session.Nonce;
import io.kiln.device.rpc.client.Connection.Session.State;
import io.kiln.device.rpc.client.SessionMessage.MessageType;
import io.kiln.device.transport.FrameReader.FrameDecoder;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** The bytes and the states that TVM's test of the session has, with its nonces: host 0x3C, device 0xAB. */
class SessionTest {
    private static final HexFormat HEX = HexFormat.ofDelimiter(" ").withUpperCase();
    private static final String TERMINATE = "FE FF FD 03 00 00 00 00 00 02 66 77";
    private static final String HOST_INIT = "FF FD 04 00 00 00 82 00 00 01 7B E9";
    private static final String DEVICE_INIT = "FF FD 04 00 00 00 66 00 00 01 60 A7";
    private static final String DEVICE_REPLY = "FF FD 04 00 00 00 82 66 01 01 81 F3";

    private final Side host = new Side();
    private final Side device = new Side();

    /** One side with what it has sent. */
    private static final class Side {
        private final Queue<String> sent = new ArrayDeque<>();
        private final Session session = new Session(bytes -> sent.add(HEX.formatHex(bytes)));
        private final FrameDecoder decoder = new FrameDecoder(300);

        /** Takes bytes; the last message that they deliver. */
        Optional<SessionMessage> take(String hex) {
            Optional<SessionMessage> message = Optional.empty();
            for (byte each : HEX.parseHex(hex)) {
                Optional<Bytes> payload = decoder.accept(each & 0xFF);
                if (payload.isPresent()) {
                    message = session.accept(payload.get());
                }
            }
            return message;
        }
    }

    private void begin() {
        host.session.initialize(0x3C);
        device.session.initialize(0xAB);
        assertThat(host.sent).containsExactly(TERMINATE);
        assertThat(device.sent).containsExactly(TERMINATE);
        host.sent.clear();
        device.sent.clear();
    }

    private void establish() {
        begin();
        host.session.startSession();
        device.take(host.sent.remove());
        host.take(device.sent.remove());
        assertThat(host.session.state()).isEqualTo(State.SESSION_ESTABLISHED);
    }

    @Test
    void aSessionIsStartedAndMessagesGoBothWays() {
        begin();
        host.session.startSession();
        assertThat(host.session.state()).isEqualTo(State.START_SESSION_SENT);
        assertThat(host.sent).containsExactly(HOST_INIT);
        assertThat(device.take(HOST_INIT)).isPresent();
        assertThat(device.session.state()).isEqualTo(State.SESSION_ESTABLISHED);
        assertThat(device.sent).containsExactly(DEVICE_REPLY);
        assertThat(host.take(DEVICE_REPLY)).isPresent();
        host.sent.clear();
        device.sent.clear();
        host.session.sendNormal(Bytes.ofText("hello"));
        assertThat(host.sent).containsExactly("FF FD 08 00 00 00 82 66 10 68 65 6C 6C 6F 90 28");
        assertThat(device.take(host.sent.remove()).orElseThrow().body().text()).isEqualTo("hello");
        device.session.sendNormal(Bytes.ofText("olleh"));
        assertThat(device.sent).containsExactly("FF FD 08 00 00 00 82 66 10 6F 6C 6C 65 68 4C 76");
        assertThat(host.take(device.sent.remove()).orElseThrow().body().text()).isEqualTo("olleh");
    }

    @Test
    void aLogNeedsNoSession() {
        device.session.initialize(0xAB);
        device.sent.clear();
        device.session.sendLog(Bytes.ofText("log1"));
        assertThat(device.sent).containsExactly("FF FD 07 00 00 00 00 00 03 6C 6F 67 31 F0 D4");
        assertThat(host.take(device.sent.remove()).orElseThrow().body().text()).isEqualTo("log1");
    }

    @Test
    void ofTwoThatStartAtOnceTheLowerNonceIsAnswered() {
        begin();
        host.session.startSession();
        device.session.startSession();
        assertThat(device.sent).containsExactly(DEVICE_INIT);
        assertThat(device.take(host.sent.remove())).isEmpty();
        assertThat(host.take(device.sent.remove())).isPresent();
        assertThat(host.sent).containsExactly("FF FD 04 00 00 00 66 45 01 01 0C 62");
        assertThat(device.take(host.sent.remove())).isPresent();
        assertThat(device.session.state()).isEqualTo(State.SESSION_ESTABLISHED);
    }

    @Test
    void withEqualNoncesBothStartAgain() {
        host.session.initialize(0x3C);
        host.sent.clear();
        host.session.startSession();
        assertThat(host.take(HOST_INIT)).isEmpty();
        assertThat(host.session.state()).isEqualTo(State.START_SESSION_SENT);
        assertThat(host.sent).hasSize(2).first().isEqualTo(HOST_INIT);
        assertThat(host.sent).last().isNotEqualTo(HOST_INIT);
    }

    @Test
    void aHostThatRestartedTakesTheSessionOver() {
        establish();
        Side other = new Side();
        other.session.initialize(0x11);
        other.session.startSession();
        other.sent.remove();
        assertThat(device.take(other.sent.remove())).isPresent();
        assertThat(other.take(device.sent.remove())).isPresent();
        host.session.sendNormal(Bytes.ofText("late"));
        assertThat(device.take(host.sent.remove())).isEmpty();
        other.session.sendNormal(Bytes.ofText("new"));
        assertThat(device.take(other.sent.remove())).isPresent();
    }

    @Test
    void aTerminationEndsASessionAndIsReportedOnce() {
        establish();
        assertThat(host.take(TERMINATE).orElseThrow().type()).isEqualTo(MessageType.TERMINATE_SESSION);
        assertThat(host.session.state()).isEqualTo(State.NO_SESSION_ESTABLISHED);
        assertThat(host.take(TERMINATE)).isEmpty();
        assertThatThrownBy(() -> host.session.sendNormal(Bytes.ofText("x"))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void whatIsNotForThisSessionIsDropped() {
        begin();
        Bytes[] dropped = {
            new SessionMessage(0, 0, MessageType.START_SESSION_INIT, version(1)).payload(),
            new SessionMessage(5, 0, MessageType.START_SESSION_INIT, Bytes.ofText("")).payload(),
            new SessionMessage(0x82, 7, MessageType.START_SESSION_REPLY, version(1)).payload(),
            Bytes.copyOf(new byte[] {0, 0}),
            Bytes.copyOf(new byte[] {0, 0, 0x7F, 1})
        };
        for (Bytes payload : dropped) {
            assertThat(host.session.accept(payload)).isEmpty();
        }
        assertThat(host.sent).isEmpty();
        host.session.startSession();
        Bytes[] alsoDropped = {
            new SessionMessage(0x82, 0, MessageType.START_SESSION_REPLY, version(1)).payload(),
            new SessionMessage(0x83, 7, MessageType.START_SESSION_REPLY, version(1)).payload(),
            new SessionMessage(0x82, 7, MessageType.START_SESSION_REPLY, version(2)).payload(),
            new SessionMessage(0x82, 0, MessageType.NORMAL, version(2)).payload(),
        };
        for (Bytes payload : alsoDropped) {
            assertThat(host.session.accept(payload)).isEmpty();
        }
        assertThat(host.session.state()).isEqualTo(State.START_SESSION_SENT);
    }

    @Test
    void noncesFollowEachOther() {
        assertThat(Nonce.after(0x3C)).isEqualTo(0x82);
        assertThat(Nonce.after(0xAB)).isEqualTo(0x66);
        for (int nonce = 0; nonce < 256; nonce++) {
            assertThat(Nonce.after(nonce)).isBetween(1, 255);
        }
    }

    private static Bytes version(int version) {
        return Bytes.copyOf(new byte[] {(byte) version});
    }
}
