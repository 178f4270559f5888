// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Bytes that a process may print. One that prints more is ended: whatever it has to say, it says too often. */
final class Budget {
    /** Bytes of both output streams together. */
    static final int MOST_OUTPUT = 64 << 20;

    private final AtomicLong left = new AtomicLong(MOST_OUTPUT);
    private final AtomicBoolean spent = new AtomicBoolean();
    private final Process process;

    Budget(Process process) {
        this.process = process;
    }

    /** Takes bytes off; ends the process when there are none left. */
    void spend(int bytes) {
        if (left.addAndGet(-bytes) < 0 && spent.compareAndSet(false, true)) {
            ProcessTree.kill(process);
        }
    }

    /** Whether the process was ended. */
    boolean isSpent() {
        return spent.get();
    }

    static String message() {
        return "it printed more than " + (MOST_OUTPUT >> 20) + " MiB and was stopped";
    }
}
