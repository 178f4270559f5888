// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The device's side of framing and session, written from the protocol's description and not from the host's code: bytes go in, bytes come
 * out, nothing waits. What a packet means is the {@link ScriptedServer}'s.
 */
final class ScriptedDevice {
    private static final int BUFFER = 2048;

    private final ScriptedServer server = new ScriptedServer(BUFFER);
    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private boolean isEstablished;
    private boolean isEscaped;
    private boolean isInFrame;
    private int crc;
    private long length;
    private int nonce;
    private int id;

    ScriptedDevice(int nonce) {
        this.nonce = nonce;
    }

    /** What it sends when it starts. */
    byte[] boot() {
        isEstablished = false;
        sent.write(0xFE);
        send(0, 2, new byte[0]);
        return taken();
    }

    /** A log line that it sends unasked. */
    byte[] says(String text) {
        send(0, 3, text.getBytes(StandardCharsets.UTF_8));
        return taken();
    }

    /** Takes bytes, and answers what they complete. */
    byte[] feed(byte[] bytes) {
        for (byte each : bytes) {
            take(each & 0xFF);
        }
        return taken();
    }

    private byte[] taken() {
        byte[] bytes = sent.toByteArray();
        sent.reset();
        return bytes;
    }

    private void take(int value) {
        if (!isEscaped && value == 0xFF) {
            isEscaped = true;
            return;
        }
        boolean wasEscaped = isEscaped;
        isEscaped = false;
        if (wasEscaped && value == 0xFD) {
            isInFrame = true;
            frame.reset();
            crc = update(update(0xFFFF, 0xFF), 0xFD);
            return;
        }
        if (!isInFrame) {
            return;
        }
        if (wasEscaped && value != 0xFF && value != 0xFE) {
            isInFrame = false;
            return;
        }
        if (covers() && wasEscaped) {
            crc = update(crc, 0xFF);
        }
        if (covers()) {
            crc = update(crc, value);
        }
        if (!(wasEscaped && value == 0xFE)) {
            frame.write(value);
            complete();
        }
    }

    private boolean covers() {
        return frame.size() < 4 || frame.size() < 4L + length;
    }

    private void complete() {
        if (frame.size() == 4) {
            length = little(frame.toByteArray()).getInt() & 0xFFFFFFFFL;
        }
        if (frame.size() >= 4 && length > BUFFER) {
            isInFrame = false;
            return;
        }
        if (frame.size() >= 4 && frame.size() == length + 6) {
            isInFrame = false;
            byte[] all = frame.toByteArray();
            int stated = little(all).getShort(all.length - 2) & 0xFFFF;
            if (stated == crc && length >= 3) {
                message(little(all).position(4).limit(all.length - 2).slice().order(ByteOrder.LITTLE_ENDIAN));
            }
        }
    }

    private void message(ByteBuffer message) {
        int from = message.getShort() & 0xFFFF;
        int type = message.get();
        if (type == 0 && (from & 0xFF) != 0 && message.hasRemaining()) {
            nonce = (nonce << 5 | nonce >> 5) + 1 & 0xFF;
            nonce = Math.max(nonce, 1);
            id = (from & 0xFF) | nonce << 8;
            isEstablished = true;
            send(id, 1, new byte[] {1});
        } else if (type == 2) {
            isEstablished = false;
        } else if (type == 0x10 && isEstablished && from == id) {
            server.handle(message.slice().order(ByteOrder.LITTLE_ENDIAN)).ifPresent(reply -> send(id, 0x10, reply));
        }
    }

    private void send(int session, int type, byte[] body) {
        ByteBuffer payload = ByteBuffer.allocate(7 + body.length).order(ByteOrder.LITTLE_ENDIAN);
        payload.putInt(3 + body.length)
                .putShort((short) session)
                .put((byte) type)
                .put(body);
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        wire.write(0xFF);
        wire.write(0xFD);
        for (byte each : payload.array()) {
            escape(wire, each);
        }
        int sum = 0xFFFF;
        for (byte each : wire.toByteArray()) {
            sum = update(sum, each & 0xFF);
        }
        escape(wire, (byte) sum);
        escape(wire, (byte) (sum >> 8));
        sent.writeBytes(wire.toByteArray());
    }

    private static void escape(ByteArrayOutputStream wire, byte value) {
        if (value == -1) {
            wire.write(value);
        }
        wire.write(value);
    }

    /** The CRC by shifts of whole bytes, a form of its own. */
    private static int update(int before, int value) {
        int x = (before >> 8 ^ value) & 0xFF;
        x ^= x >> 4;
        return (before << 8 ^ x << 12 ^ x << 5 ^ x) & 0xFFFF;
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
