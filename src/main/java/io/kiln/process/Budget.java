// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Limit of a process's output in bytes. A process that prints more is killed. */
final class Budget {
    /** Limit for both output streams together. */
    static final int MOST_OUTPUT = 64 << 20;

    private final AtomicLong left = new AtomicLong(MOST_OUTPUT);
    private final AtomicBoolean spent = new AtomicBoolean();
    private final Process process;

    Budget(Process process) {
        this.process = process;
    }

    /** Subtracts bytes; kills the process when none are left. */
    void spend(int bytes) {
        if (left.addAndGet(-bytes) < 0 && spent.compareAndSet(false, true)) {
            ProcessTree.kill(process);
        }
    }

    /** Whether the process was killed. */
    boolean isSpent() {
        return spent.get();
    }

    static String message() {
        return "it printed more than " + (MOST_OUTPUT >> 20) + " MiB and was stopped";
    }
}
