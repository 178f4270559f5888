// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.elf.ElfFile;
import io.kiln.device.fault.StackUse;
import io.kiln.process.RunningProcess;
import java.time.Duration;
import java.util.Optional;

/** Ends a machine when a time of its own has passed, and measures its stack before. A thread of its own looks at the clock. */
final class TimeOver {
    private static final long BETWEEN_LOOKS = 100;

    private final ElfFile elf;
    private final MachineMonitor monitor;
    private final RunningProcess process;
    private final long limit;
    private boolean ended;
    private boolean over;
    private Optional<StackUse> stack = Optional.empty();

    /**
     * Begins to look.
     *
     * @param monitor asked by this only, from now on
     * @param process the machine's
     */
    TimeOver(ElfFile elf, MachineMonitor monitor, RunningProcess process, Duration limit) {
        this.elf = elf;
        this.monitor = monitor;
        this.process = process;
        this.limit = limit.toNanos();
        Thread thread = new Thread(this::look, "machine-clock");
        thread.setDaemon(true);
        thread.start();
    }

    private void look() {
        EmulatedClock clock = new EmulatedClock(monitor);
        try {
            while (!hasEnded(clock)) {
                Thread.sleep(BETWEEN_LOOKS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean hasEnded(EmulatedClock clock) {
        if (!ended && clock.elapsed() >= limit) {
            measure();
            over = true;
            process.close();
        }
        return ended;
    }

    private void measure() {
        ended = true;
        stack = WatchedProgram.measured(elf, monitor);
    }

    /** Stops looking, while the machine has stopped or has ended; the deepest use of its stack, if that can be known. */
    synchronized Optional<StackUse> end() {
        if (!ended) {
            measure();
        }
        return stack;
    }

    /** Whether the time was over. */
    synchronized boolean isOver() {
        return over;
    }

    /** The deepest use of the stack, once it was measured. */
    synchronized Optional<StackUse> stack() {
        return stack;
    }
}
