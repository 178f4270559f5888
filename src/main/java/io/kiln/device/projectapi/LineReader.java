// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.device.transport.TimedBytes;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads lines of UTF-8 that end with a line feed, with a limit on their length and on the time for each.
 *
 * @param mostBytes the longest line, without its line feed
 */
record LineReader(TimedBytes source, int mostBytes) {
    /** How reading a line ended. */
    enum Ending {
        /** The line is complete. */
        COMPLETE,
        /** The line was not complete in time. */
        LATE,
        /** The stream ended before the line feed. */
        END,
        /** The line is longer than the limit. */
        TOO_LONG,
        /** The line is not UTF-8. */
        NOT_UTF8
    }

    /**
     * A line.
     *
     * @param text its characters without the line feed; empty unless it is complete
     */
    record Line(Ending ending, String text) {}

    /** The next line; after any other ending than a complete one nothing more can be read. */
    Line next(long deadline) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int value = source.read(deadline);
        while (value >= 0 && value != '\n') {
            if (bytes.size() == mostBytes) {
                return new Line(Ending.TOO_LONG, "");
            }
            bytes.write(value);
            value = source.read(deadline);
        }
        return value < 0
                ? new Line(value == TimedBytes.LATE ? Ending.LATE : Ending.END, "")
                : decoded(bytes.toByteArray());
    }

    private static Line decoded(byte[] bytes) {
        try {
            return new Line(
                    Ending.COMPLETE,
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString());
        } catch (CharacterCodingException e) {
            return new Line(Ending.NOT_UTF8, "");
        }
    }
}
