// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.IOException;
import java.io.OutputStream;

/** A log that two pumps write to; what comes after it was closed is dropped. */
final class SharedLog extends OutputStream {
    private final OutputStream target;
    private boolean closed;

    SharedLog(OutputStream target) {
        this.target = target;
    }

    @Override
    public synchronized void write(int value) throws IOException {
        if (!closed) {
            target.write(value);
        }
    }

    @Override
    public synchronized void write(byte[] block, int offset, int length) throws IOException {
        if (!closed) {
            target.write(block, offset, length);
        }
    }

    @Override
    public synchronized void flush() throws IOException {
        if (!closed) {
            target.flush();
        }
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        target.close();
    }
}
