// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Optional;

/**
 * How long a user lets the programs of images take.
 *
 * @param start until a program answers the first time; empty for the protocol's usual time
 * @param answer to each answer; empty for as long as what is asked may take
 */
public record SessionLimits(Optional<Duration> start, Optional<Duration> answer) {
    /** Nothing is set. */
    public static final SessionLimits USUAL = new SessionLimits(Optional.empty(), Optional.empty());

    /** How many times as long a busy computer may take. */
    private static final long LONGEST = 12;

    /** These limits for a program: an emulator's on this computer grow by {@link #share()}. */
    public SessionLimits of(boolean isEmulated) {
        long factor = isEmulated ? share() : 1;
        return new SessionLimits(
                start.map(time -> time.multipliedBy(factor)), answer.map(time -> time.multipliedBy(factor)));
    }

    /** How many programs share a processor of this computer now: from 1, which is all of it, to 12. */
    public static long share() {
        return share(
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
    }

    /**
     * How many programs share a processor.
     *
     * @param load programs that want to run, a negative number if that is not known
     */
    static long share(double load, int processors) {
        return Math.max(1, Math.min(LONGEST, (long) Math.ceil(load / processors)));
    }
}
