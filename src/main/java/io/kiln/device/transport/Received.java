// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.Bytes;
import io.kiln.base.Utf8Text;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.Consumer;

/** What an image sends: frames, and text between them, which is shown and of which the end is kept. Not thread-safe. */
final class Received {
    private static final int MAX_PAYLOAD = 64 << 20;
    private static final int KEPT_TEXT = 4000;

    private final TimedInput in;
    private final Consumer<String> console;
    private final FrameDecoder decoder = new FrameDecoder(MAX_PAYLOAD);
    private final Utf8Text characters = new Utf8Text();
    private final StringBuilder seen = new StringBuilder();
    private final StringBuilder line = new StringBuilder();

    Received(InputStream in, Consumer<String> console) {
        this.in = new TimedInput(in);
        this.console = console;
    }

    /** The next byte, {@link TimedInput#LATE} or {@link TimedInput#END}; it is still to be taken as one of the two below. */
    int next(long deadline) {
        return in.read(deadline);
    }

    /** Takes a byte of frames, with text between them; a frame that it completes. */
    Optional<Bytes> frame(int value) {
        Optional<Bytes> frame = decoder.accept(value);
        note(decoder.takeText());
        return frame;
    }

    /** Takes a byte of text; whether it ends a line with this in it. What a line picks up while it is switched on may stand before. */
    boolean endsLineWith(String wanted, int value) {
        note(new byte[] {(byte) value});
        if (value != '\n') {
            line.append((char) value);
            return false;
        }
        boolean isThere = line.indexOf(wanted) >= 0;
        line.setLength(0);
        return isThere;
    }

    private void note(byte[] bytes) {
        String text = characters.accept(bytes);
        if (!text.isEmpty()) {
            console.accept(text);
            seen.append(text);
            seen.delete(0, Math.max(0, seen.length() - KEPT_TEXT));
        }
    }

    /** The last text outside frames. */
    String text() {
        return seen.toString();
    }

    boolean saidNothing() {
        return seen.toString().isBlank();
    }

    /** The last text, as errors tell it. */
    String printed() {
        return saidNothing()
                ? "It printed nothing"
                : "It printed: " + seen.toString().strip();
    }
}
