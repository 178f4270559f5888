// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TimedInputTest {
    /** What may have come in time, and somewhat more. */
    private static final int READ_AHEAD = 512 << 10;

    private static final int TRIALS = 8 * READ_AHEAD;

    /** An image that never pauses must not keep a reader beyond its time; what came in time is still read. */
    @Test
    void aFloodDoesNotOutlastTheDeadline() {
        try (TimedInput in = new TimedInput(new Flood())) {
            assertThat(in.read(System.nanoTime() + Long.MAX_VALUE / 2)).isEqualTo('x');
            long passed = System.nanoTime() - 1;
            int read = 0;
            for (int i = 0; i < TRIALS; i++) {
                if (in.read(passed) >= 0) {
                    read++;
                }
            }
            assertThat(read).isLessThan(READ_AHEAD);
            assertThat(in.read(System.nanoTime() + Long.MAX_VALUE / 2)).isEqualTo('x');
        }
    }

    private static final class Flood extends InputStream {
        @Override
        public int read() {
            return 'x';
        }

        @Override
        public int read(byte[] block, int offset, int length) {
            Arrays.fill(block, offset, offset + length, (byte) 'x');
            return length;
        }
    }
}
