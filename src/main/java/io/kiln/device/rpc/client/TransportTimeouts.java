// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.device.transport.SessionLimits;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * How long a host waits; zero means for ever.
 *
 * @param sessionStartRetry time after which the host asks again for a session
 * @param sessionStart time after which it gives up asking
 * @param sessionEstablished longest time to each reply
 */
public record TransportTimeouts(Duration sessionStartRetry, Duration sessionStart, Duration sessionEstablished) {
    /** The times that TVM has for boards on a serial port. */
    public static final TransportTimeouts SERIAL =
            new TransportTimeouts(Duration.ofSeconds(2), Duration.ofSeconds(5), Duration.ofSeconds(5));

    /** The times that TVM has for boards in an emulator. */
    public static final TransportTimeouts EMULATOR =
            new TransportTimeouts(Duration.ofSeconds(2), Duration.ofSeconds(10), Duration.ofSeconds(10));

    /** A time in nanoseconds so long that its end never comes: half of what a long holds. */
    private static final long FOR_EVER = Long.MAX_VALUE / 2;

    /**
     * The times of a session. In an emulator on this computer they grow as busy as it is: see {@link SessionLimits#share()}.
     *
     * @param limits what is set
     * @param isEmulated whether the program runs in such an emulator
     */
    public static TransportTimeouts of(SessionLimits limits, boolean isEmulated) {
        TransportTimeouts usual = isEmulated ? EMULATOR : SERIAL;
        long factor = isEmulated ? SessionLimits.share() : 1;
        return new TransportTimeouts(
                usual.sessionStartRetry.multipliedBy(factor),
                limits.start().orElse(usual.sessionStart).multipliedBy(factor),
                limits.answer().orElse(usual.sessionEstablished).multipliedBy(factor));
    }

    /**
     * The times of a session as {@link #of(SessionLimits, boolean)} tells them, where what is asked may take long.
     *
     * @param answer the longest time to each answer if none is set; it does not grow
     */
    public static TransportTimeouts of(SessionLimits limits, boolean isEmulated, Duration answer) {
        TransportTimeouts times = of(limits, isEmulated);
        return limits.answer().isPresent() ? times : times.withReplies(answer);
    }

    /** The same times with another one to each reply. */
    public TransportTimeouts withReplies(Duration limit) {
        return new TransportTimeouts(sessionStartRetry, sessionStart, limit);
    }

    /** The moment at which a time that begins now is over, in nanoseconds of the same clock. */
    static long deadline(long now, Duration time) {
        return now + (time.isZero() ? FOR_EVER : time.toNanos());
    }

    /** A time in seconds without zeros at the end, such as {@code 5s} and {@code 0.5s}. */
    static String text(Duration time) {
        BigDecimal seconds = BigDecimal.valueOf(time.toNanos(), 9).stripTrailingZeros();
        return seconds.toPlainString() + "s";
    }
}
