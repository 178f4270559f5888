// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import io.kiln.base.KilnException;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Another transport, whose bytes are counted both ways: one side waits for the other, so that they share the line's time. */
public final class CountedTransport implements Transport {
    private final Transport line;
    private final AtomicLong bytes = new AtomicLong();
    private final InputStream input;
    private final OutputStream output;

    /** Counts another one's bytes, and closes it with itself. */
    public CountedTransport(Transport line) {
        this.line = line;
        this.input = new FilterInputStream(line.input()) {
            @Override
            public int read() throws IOException {
                int value = super.read();
                bytes.addAndGet(value < 0 ? 0 : 1);
                return value;
            }

            @Override
            public int read(byte[] block, int offset, int length) throws IOException {
                int count = super.read(block, offset, length);
                bytes.addAndGet(Math.max(0, count));
                return count;
            }
        };
        this.output = new FilterOutputStream(line.output()) {
            @Override
            public void write(int value) throws IOException {
                bytes.incrementAndGet();
                out.write(value);
            }

            @Override
            public void write(byte[] block, int offset, int length) throws IOException {
                bytes.addAndGet(length);
                out.write(block, offset, length);
            }
        };
    }

    /** Bytes on the line so far. */
    public long bytes() {
        return bytes.get();
    }

    @Override
    public InputStream input() {
        return input;
    }

    @Override
    public OutputStream output() {
        return output;
    }

    @Override
    public AtomicBoolean held() {
        return line.held();
    }

    @Override
    public boolean ownsProgram() {
        return line.ownsProgram();
    }

    @Override
    public KilnException explained(KilnException failure) {
        return line.explained(failure);
    }

    @Override
    public void close() {
        line.close();
    }
}
