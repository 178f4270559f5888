// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Utf8Text;
import io.kiln.device.transport.FrameDecoder;
import io.kiln.device.transport.TimedInput;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.Consumer;

/** Splits an image's output into frames and text; the text is passed on, and its end is kept. Not thread-safe. */
final class Received implements AutoCloseable {
    /** Limit of text in bytes; an image that prints more is stopped. */
    static final int MOST_TEXT = 4 << 20;

    /** Limit of text in lines. */
    private static final int MOST_LINES = 100_000;

    private static final int KEPT_TEXT = 4000;

    private final TimedInput in;
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
     * @param console gets the text as it arrives
     * @param maxPayload longest accepted payload in bytes, until {@link #expect} changes it
     */
    Received(InputStream in, Consumer<String> console, int maxPayload) {
        this.in = new TimedInput(in);
        this.console = console;
        this.decoder = new FrameDecoder(maxPayload);
    }

    /** Accepts payloads up to this size from now on. */
    void expect(int maxPayload) {
        decoder.limit(maxPayload);
    }

    /** The next byte, {@link TimedInput#LATE} or {@link TimedInput#END}; pass it to {@link #take}. */
    int next(long deadline) {
        return in.read(deadline);
    }

    /**
     * Handles a byte.
     *
     * @return the payload of the frame that it completes
     * @throws KilnException if the image floods the console
     */
    Optional<Bytes> take(int value) {
        Optional<Bytes> frame = decoder.accept(value);
        note(decoder.takeText());
        return frame;
    }

    /** Whether the last byte ended a line of text that contains this. Noise from switching a line on may precede it. */
    boolean endedLineWith(String wanted) {
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
            throw new KilnException(new Problem(
                    "the image printed more than " + (MOST_TEXT >> 20) + " MiB or " + MOST_LINES
                            + " lines of text and was stopped",
                    "console",
                    "",
                    "Print less. The last it printed: " + lastLine()));
        }
    }

    private String lastLine() {
        String all = seen.toString().strip();
        String last = all.substring(all.lastIndexOf('\n') + 1);
        return last.substring(0, Math.min(80, last.length()));
    }

    /** The last text outside frames. */
    String text() {
        return seen.toString();
    }

    boolean saidNothing() {
        return seen.toString().isBlank();
    }

    /** The last text, for error messages. */
    String printed() {
        return saidNothing()
                ? "It printed nothing"
                : "It printed: " + seen.toString().strip();
    }

    /** Stops reading ahead. */
    @Override
    public void close() {
        in.close();
    }
}
