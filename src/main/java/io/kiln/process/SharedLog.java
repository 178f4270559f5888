// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.IOException;
import java.io.OutputStream;

/**
 * A log that two pumps write to; what comes after it was closed is dropped. So is what comes after the disk was full: a process whose output
 * nobody takes any more would stop, and what it says of the full disk would be lost.
 */
final class SharedLog extends OutputStream {
    private final OutputStream target;
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
        try {
            if (!ended) {
                target.write(block, offset, length);
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
