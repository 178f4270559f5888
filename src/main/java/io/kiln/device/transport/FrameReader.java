// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Utf8Text;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;

/** Splits an image's output into frames and text; the text is passed on, and its end is kept. Not thread-safe. */
public final class FrameReader implements AutoCloseable {
    /** Limit of text in bytes; an image that prints more is stopped. */
    private static final int MOST_TEXT = 4 << 20;

    /** Limit of text in lines. */
    private static final int MOST_LINES = 100_000;

    private static final int KEPT_TEXT = 4000;

    private final TimedBytes in;
    private final Consumer<String> console;
    private final FrameDecoder decoder;
    private final Utf8Text characters = new Utf8Text();
    private final StringBuilder seen = new StringBuilder();
    private final StringBuilder line = new StringBuilder();
    private boolean lineEnded;
    private long textBytes;
    private long lines;

    /**
     * Reads a stream ahead.
     *
     * @param in what the image sends
     * @param console gets the text as it arrives
     * @param maxPayload longest accepted payload in bytes, until {@link #expect} changes it
     */
    public FrameReader(InputStream in, Consumer<String> console, int maxPayload) {
        this(new TimedInput(in), console, maxPayload);
    }

    /** Reads a source that knows deadlines already; it is closed with the reader. */
    public FrameReader(TimedBytes in, Consumer<String> console, int maxPayload) {
        this.in = in;
        this.console = console;
        this.decoder = new FrameDecoder(maxPayload);
    }

    /** The time by the clock that deadlines are held against, in nanoseconds. */
    public long now() {
        return in.now();
    }

    /** Accepts payloads up to this size from now on. */
    public void expect(int maxPayload) {
        decoder.limit(maxPayload);
    }

    /** The next byte, {@link TimedBytes#LATE} or {@link TimedBytes#END}; pass it to {@link #take}. */
    public int next(long deadline) {
        return in.read(deadline);
    }

    /**
     * Handles a byte.
     *
     * @return the payload of the frame that it completes
     * @throws KilnException if the image floods the console
     */
    public Optional<Bytes> take(int value) {
        Optional<Bytes> frame = decoder.accept(value);
        note(decoder.takeText());
        return frame;
    }

    /** Whether the last byte ended a line of text that contains this. Noise from switching a line on may precede it. */
    public boolean endedLineWith(String wanted) {
        return lineEnded && line.indexOf(wanted) >= 0;
    }

    private void note(byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        for (byte value : bytes) {
            if (lineEnded) {
                line.setLength(0);
            }
            lineEnded = value == '\n';
            lines += lineEnded ? 1 : 0;
            line.append((char) (value & 0xFF));
            line.delete(0, Math.max(0, line.length() - KEPT_TEXT));
        }
        String text = characters.accept(bytes);
        if (!text.isEmpty()) {
            console.accept(text);
            seen.append(text);
            seen.delete(0, Math.max(0, seen.length() - KEPT_TEXT));
        }
        textBytes += bytes.length;
        if (textBytes > MOST_TEXT || lines > MOST_LINES) {
            throw Failure.RUN.exception(
                    "the image printed more than " + (MOST_TEXT >> 20) + " MiB or " + MOST_LINES
                            + " lines of text and was stopped",
                    "console",
                    "",
                    "Print less. The last it printed: " + lastLine());
        }
    }

    private String lastLine() {
        String all = seen.toString().strip();
        String last = all.substring(all.lastIndexOf('\n') + 1);
        return last.substring(0, Math.min(80, last.length()));
    }

    /** The last text outside frames. */
    public String text() {
        return seen.toString();
    }

    /** Whether no text came, or only blanks. */
    public boolean saidNothing() {
        return seen.toString().isBlank();
    }

    /** The last text, for error messages. */
    public String printed() {
        return saidNothing()
                ? "It printed nothing"
                : "It printed: " + seen.toString().strip();
    }

    /** Stops reading ahead. */
    @Override
    public void close() {
        in.close();
    }

    /**
     * Finds frames and text in a stream, byte by byte. It accepts any input: a damaged frame is dropped and counted, bytes
     * outside frames are text. Not thread-safe.
     */
    public static final class FrameDecoder {
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

    /**
     * microTVM's framing: {@code FF FD}, length (u32), payload, CRC (u16); numbers little-endian; a data byte {@code FF} is
     * sent twice, {@code FF FE} is a filler. The CRC-16-CCITT (polynomial 0x1021, start 0xFFFF, high bit first, no
     * reflection) covers the bytes as sent, fillers included, from {@code FF FD} to the end of the payload.
     */
    public static final class Frames {
        static final int ESCAPE = 0xFF;
        static final int NOP = 0xFE;
        static final int START = 0xFD;
        private static final int[] TABLE = table();

        private Frames() {}

        public static byte[] encode(Bytes payload) {
            ByteArrayOutputStream wire = new ByteArrayOutputStream(payload.size() + 16);
            wire.write(ESCAPE);
            wire.write(START);
            for (int shift = 0; shift < 32; shift += 8) {
                escape(wire, payload.size() >>> shift & 0xFF);
            }
            for (int i = 0; i < payload.size(); i++) {
                escape(wire, payload.get(i) & 0xFF);
            }
            int crc = crc(wire.toByteArray());
            escape(wire, crc & 0xFF);
            escape(wire, crc >>> 8);
            return wire.toByteArray();
        }

        private static void escape(ByteArrayOutputStream wire, int value) {
            if (value == ESCAPE) {
                wire.write(ESCAPE);
            }
            wire.write(value);
        }

        static int crc(byte[] bytes) {
            int crc = 0xFFFF;
            for (byte value : bytes) {
                crc = crc(crc, value & 0xFF);
            }
            return crc;
        }

        /** Updates the CRC with one byte, 0 to 255. */
        static int crc(int before, int value) {
            return (before << Byte.SIZE ^ TABLE[before >>> Byte.SIZE ^ value]) & 0xFFFF;
        }

        /** The CRC of each single byte, from 0 on. */
        private static int[] table() {
            int[] table = new int[1 << Byte.SIZE];
            for (int value = 0; value < table.length; value++) {
                int crc = value << Byte.SIZE;
                for (int bit = 0; bit < Byte.SIZE; bit++) {
                    crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
                }
                table[value] = crc & 0xFFFF;
            }
            return table;
        }
    }
}
