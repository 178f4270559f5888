// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import java.lang.management.ManagementFactory;
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

    /** How many times as long a busy computer may take. */
    private static final long LONGEST = 12;

    /** A time in nanoseconds so long that its end never comes: half of what a long holds. */
    private static final long FOR_EVER = Long.MAX_VALUE / 2;

    /** The times for an emulator on this computer, as long as it is that busy: its share of a processor is so much smaller. */
    public static TransportTimeouts onThisComputer() {
        return EMULATOR.shared();
    }

    /** These times as many times as programs share a processor of this computer, twelve times at most. */
    public TransportTimeouts shared() {
        return shared(
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
    }

    /**
     * These times where programs share processors.
     *
     * @param load programs that want to run, a negative number if that is not known
     */
    TransportTimeouts shared(double load, int processors) {
        long factor = Math.max(1, Math.min(LONGEST, (long) Math.ceil(load / processors)));
        return new TransportTimeouts(
                sessionStartRetry.multipliedBy(factor),
                sessionStart.multipliedBy(factor),
                sessionEstablished.multipliedBy(factor));
    }

    /** The same times with another one in which a server answers first; it is asked again as often as before. */
    public TransportTimeouts withStart(Duration limit) {
        return new TransportTimeouts(sessionStartRetry, limit, sessionEstablished);
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
