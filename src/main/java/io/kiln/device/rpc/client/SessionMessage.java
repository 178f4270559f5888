// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

/**
 * The payload of a frame: {@code u16 session id, u8 type, body}, little endian.
 *
 * @param initiator nonce of the side that asked for the session, 0 to 255
 * @param responder nonce of the other side, 0 to 255
 * @param type what the body is
 * @param body the rest of the frame's payload
 */
public record SessionMessage(int initiator, int responder, MessageType type, Bytes body) {
    /** Bytes before the body. */
    public static final int HEAD = 3;

    private static final int BYTE = 0xFF;

    /** The payload of the frame that carries this. */
    public Bytes payload() {
        byte[] content = body.toArray();
        return Bytes.wrap(ByteBuffer.allocate(HEAD + content.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) initiator)
                .put((byte) responder)
                .put((byte) type.code())
                .put(content)
                .array());
    }

    /** Reads a payload; empty if it is too short, or of a type that nobody knows. */
    public static Optional<SessionMessage> read(Bytes payload) {
        if (payload.size() < HEAD) {
            return Optional.empty();
        }
        ByteBuffer bytes = payload.buffer();
        int initiator = bytes.get() & BYTE;
        int responder = bytes.get() & BYTE;
        Optional<MessageType> type = MessageType.of(bytes.get() & BYTE);
        byte[] body = new byte[bytes.remaining()];
        bytes.get(body);
        return type.map(known -> new SessionMessage(initiator, responder, known, Bytes.wrap(body)));
    }

    /** Types of session messages. */
    public enum MessageType {
        /** Asks the other side for a session; body: the version. */
        START_SESSION_INIT(0x00),
        /** Grants a session; body: the version. */
        START_SESSION_REPLY(0x01),
        /** The sender has no session any more: it has just started. */
        TERMINATE_SESSION(0x02),
        /** A text for people, sent unasked. */
        LOG(0x03),
        /** One RPC packet. */
        NORMAL(0x10);

        private final int code;

        MessageType(int code) {
            this.code = code;
        }

        /** The byte that says the type. */
        int code() {
            return code;
        }

        static Optional<MessageType> of(int code) {
            return Arrays.stream(values()).filter(type -> type.code == code).findFirst();
        }
    }
}
