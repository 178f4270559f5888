// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.session;

import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
}
