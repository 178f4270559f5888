// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;

/** The output of a machine, with deadlines by its own clock, which is asked several times a second while this is read. */
final class EmulatedInput implements TimedBytes {
    private static final long BETWEEN_LOOKS = 200_000_000;

    private final TimedInput bytes;
    private final EmulatedClock clock;
    private long nextLook;
    private long time;

    EmulatedInput(TimedInput bytes, EmulatedClock clock) {
        this.bytes = bytes;
        this.clock = clock;
        this.nextLook = System.nanoTime();
    }

    @Override
    public int read(long deadline) {
        while (true) {
            long wall = System.nanoTime();
            if (wall - nextLook >= 0) {
                time = clock.elapsed();
                nextLook = System.nanoTime() + BETWEEN_LOOKS;
            }
            if (time - deadline >= 0) {
                return LATE;
            }
            int value = bytes.read(nextLook);
            if (value != LATE) {
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
        bytes.close();
    }
}
