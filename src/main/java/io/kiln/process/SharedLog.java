// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A log of limited size with two writers; bytes beyond the limit, or after closing, are dropped. So are bytes after the
 * disk is full, because a process whose output is no longer read would block, and its message about the full disk would
 * be lost.
 */
final class SharedLog extends OutputStream {
    /** Limit in bytes; a log that reaches it ends with a line that says so. */
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
            // The bytes are lost, as those of a failed write are.
            return;
        }
    }
}
