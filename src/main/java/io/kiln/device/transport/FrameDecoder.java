// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Optional;

/**
 * Finds frames and text in a stream, byte by byte. It accepts any input: a damaged frame is dropped and counted, bytes
 * outside frames are text. Not thread-safe.
 */
public final class FrameDecoder {
    private static final int HEAD = 4;
    private static final int TAIL = 2;
    private static final byte[] NO_TEXT = {};

    private int maxPayload;
    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();
    private boolean inFrame;
    private boolean escaped;
    private long length;
    private int crc;
    private int damaged;

    /**
     * @param maxPayload longest accepted payload in bytes; longer ones count as damaged, so that a bad length cannot
     * exhaust memory
     */
    public FrameDecoder(int maxPayload) {
        this.maxPayload = maxPayload;
    }

    /** Accepts payloads up to this size from the next frame on. */
    public void limit(int newMaxPayload) {
        maxPayload = newMaxPayload;
    }

    /**
     * Handles one byte.
     *
     * @param value 0 to 255
     * @return the payload of the frame that this byte completes
     */
    public Optional<Bytes> accept(int value) {
        if (escaped) {
            escaped = false;
            return escape(value);
        }
        if (value == Frames.ESCAPE) {
            escaped = true;
            return Optional.empty();
        }
        if (inFrame) {
            return data(value);
        }
        // A sender begins with a filler of this one byte; no text in UTF-8 has it.
        if (value != Frames.NOP) {
            text.write(value);
        }
        return Optional.empty();
    }

    private Optional<Bytes> escape(int value) {
        if (value == Frames.START) {
            if (inFrame) {
                damaged++;
            }
            start();
            return Optional.empty();
        }
        return inFrame ? escapeInFrame(value) : escapeInText(value);
    }

    private Optional<Bytes> escapeInFrame(int value) {
        if (value != Frames.ESCAPE && value != Frames.NOP) {
            drop();
            return Optional.empty();
        }
        cover(Frames.ESCAPE);
        if (value == Frames.ESCAPE) {
            return data(value);
        }
        cover(value);
        return Optional.empty();
    }

    /** Handles an escape byte in text: noise may end in one right before a frame or text. */
    private Optional<Bytes> escapeInText(int value) {
        escaped = value == Frames.ESCAPE;
        if (!escaped && value != Frames.NOP) {
            text.write(value);
        }
        return Optional.empty();
    }

    /** Adds a byte to the CRC, unless the payload is complete. */
    private void cover(int value) {
        if (frame.size() < HEAD + length) {
            crc = Frames.crc(crc, value);
        }
    }

    private void start() {
        inFrame = true;
        frame.reset();
        length = 0;
        crc = Frames.crc(Frames.crc(0xFFFF, Frames.ESCAPE), Frames.START);
    }

    private void drop() {
        inFrame = false;
        damaged++;
        frame.reset();
    }

    private Optional<Bytes> data(int value) {
        cover(value);
        if (frame.size() < HEAD) {
            length |= (long) value << (8 * frame.size());
        }
        frame.write(value);
        if (frame.size() == HEAD && length > maxPayload) {
            drop();
            return Optional.empty();
        }
        return frame.size() == HEAD + length + TAIL ? finish() : Optional.empty();
    }

    private Optional<Bytes> finish() {
        byte[] bytes = frame.toByteArray();
        int end = bytes.length - TAIL;
        int sent = (bytes[end] & 0xFF) | (bytes[end + 1] & 0xFF) << 8;
        if (sent != crc) {
            drop();
            return Optional.empty();
        }
        inFrame = false;
        return Optional.of(Bytes.wrap(Arrays.copyOfRange(bytes, HEAD, end)));
    }

    /** The text outside frames since the last call. */
    public byte[] takeText() {
        if (text.size() == 0) {
            return NO_TEXT;
        }
        byte[] taken = text.toByteArray();
        text.reset();
        return taken;
    }

    /** Frames dropped so far. */
    public int damaged() {
        return damaged;
    }
}
