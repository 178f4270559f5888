// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Reads a line to a board piece by piece. */
public final class LineFollower {
    /** Nanoseconds for which a piece is waited for before the time limit is looked at. */
    private static final long BLOCK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int BLOCK_BYTES = 4096;

    private LineFollower() {}

    /** Why reading ended. */
    public enum End {
        /** The receiver has enough. */
        ENOUGH,
        TIME_OVER,
        /** The line was closed at its other end. */
        CLOSED
    }

    /**
     * Passes on the received bytes.
     *
     * @param limit longest time
     * @param enough gets each piece; true ends reading
     * @throws KilnException if this thread is interrupted
     */
    public static End follow(Transport line, Duration limit, Predicate<byte[]> enough) {
        try (TimedInput input = new TimedInput(line.input())) {
            long end = input.now() + limit.toNanos();
            while (input.now() < end) {
                int first = input.read(Math.min(end, input.now() + BLOCK_NANOS));
                if (Thread.currentThread().isInterrupted()) {
                    throw Failure.COMPUTER.exception("the build was interrupted", "console");
                }
                if (first == TimedBytes.END) {
                    return End.CLOSED;
                }
                if (first >= 0 && enough.test(piece(first, input))) {
                    return End.ENOUGH;
                }
            }
            return End.TIME_OVER;
        }
    }

    /** A byte, and those that follow it within a millisecond. */
    private static byte[] piece(int first, TimedInput input) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long soon = input.now() + TimeUnit.MILLISECONDS.toNanos(1);
        for (int value = first; value >= 0; value = bytes.size() < BLOCK_BYTES ? input.read(soon) : TimedBytes.LATE) {
            bytes.write(value);
        }
        return bytes.toByteArray();
    }
}
