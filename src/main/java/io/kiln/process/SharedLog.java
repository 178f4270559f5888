// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A log that two pumps write to, of bounded size; what comes beyond, or after it was closed, is dropped. So is what comes after the disk
 * was full: a process whose output nobody takes any more would stop, and what it says of the full disk would be lost.
 */
final class SharedLog extends OutputStream {
    /** Bytes; the last line of a log that has them says that there was more. */
    static final int MOST = 16 << 20;

    private static final byte[] CUT =
            ("\n[cut here, after " + (MOST >> 20) + " MiB]\n").getBytes(StandardCharsets.US_ASCII);

    private final OutputStream target;
    private long left = MOST;
    private boolean ended;

    SharedLog(OutputStream target) {
        this.target = target;
    }

    @Override
    public synchronized void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] block, int offset, int length) {
        if (ended || left == 0) {
            return;
        }
        try {
            int taken = (int) Math.min(left, length);
            target.write(block, offset, taken);
            left -= taken;
            if (left == 0) {
                target.write(CUT);
            }
        } catch (IOException e) {
            ended = true;
        }
    }

    @Override
    public synchronized void flush() {
        try {
            if (!ended) {
                target.flush();
            }
        } catch (IOException e) {
            ended = true;
        }
    }

    @Override
    public synchronized void close() {
        try {
            ended = true;
            target.close();
        } catch (IOException e) {
            // As above: what it could not take is lost.
            return;
        }
    }
}
