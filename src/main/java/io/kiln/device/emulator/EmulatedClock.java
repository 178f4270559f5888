// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import java.util.OptionalLong;

/**
 * The time that has passed in a machine, by QEMU's own clock, so that a busy computer takes nothing of it. A machine that sleeps with no
 * timer running has no time of its own: for it, this computer's counts. Not thread-safe.
 */
final class EmulatedClock {
    private final MachineMonitor monitor;
    private long elapsed;
    private long wall = System.nanoTime();
    private long lag;
    private long executed = -1;
    private boolean isLost;

    /**
     * @param monitor of a QEMU that counts instructions ({@code -icount})
     */
    EmulatedClock(MachineMonitor monitor) {
        this.monitor = monitor;
    }

    /** Nanoseconds since the start, as of now. */
    long elapsed() {
        long now = System.nanoTime();
        long passed = now - wall;
        wall = now;
        elapsed += isLost ? passed : passedInside(passed);
        return elapsed;
    }

    /** The part of some time of this computer that passed in the machine, or a multiple of it. */
    private long passedInside(long passed) {
        try {
            OptionalLong behind = monitor.lagMillis();
            if (behind.isEmpty()) {
                isLost = true;
                return passed;
            }
            long now = 1_000_000 * behind.getAsLong();
            long inside = Math.max(0, passed - (now - lag));
            lag = now;
            long count = monitor.instructions();
            boolean sleeps = count == executed;
            executed = count;
            return sleeps ? Math.max(inside, passed) : inside;
        } catch (KilnException e) {
            // QEMU ended: its output ends, too.
            isLost = true;
            return passed;
        }
    }
}
