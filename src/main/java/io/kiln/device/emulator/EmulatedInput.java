// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;

/**
 * The output of a machine, with deadlines by its own clock. A machine that prints while nobody reads may wait, and then nobody can ask for its
 * time. So a thread of its own looks at the clock several times a second, and after the last reading another one reads what no one wants.
 */
final class EmulatedInput implements TimedBytes {
    private static final long BETWEEN_LOOKS = 200;
    private static final long A_LITTLE = 20_000_000;

    private final TimedInput bytes;
    private final EmulatedClock clock;
    private volatile long time;
    private volatile boolean closed;

    EmulatedInput(TimedInput bytes, EmulatedClock clock) {
        this.bytes = bytes;
        this.clock = clock;
        start(this::look, "machine-clock");
    }

    private static void start(Runnable loop, String name) {
        Thread thread = new Thread(loop, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void look() {
        try {
            while (!closed) {
                time = clock.elapsed();
                Thread.sleep(BETWEEN_LOOKS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads a byte before a deadline. Bytes that have come already are in time: the clock was looked at when they had. */
    @Override
    public int read(long deadline) {
        while (true) {
            boolean isOver = time - deadline >= 0;
            int value = bytes.read(System.nanoTime() + (isOver ? 0 : A_LITTLE));
            if (value != LATE || isOver) {
                return value;
            }
        }
    }

    @Override
    public long now() {
        return time;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            start(this::discard, "console-rest");
        }
    }

    /** Reads and drops bytes until the machine ends, which others see to. */
    private void discard() {
        int value = LATE;
        while (value != END) {
            value = bytes.read(System.nanoTime() + 1_000_000 * BETWEEN_LOOKS);
        }
    }
}
