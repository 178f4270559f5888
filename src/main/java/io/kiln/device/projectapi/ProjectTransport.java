// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.transport.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The connection to a board that a {@link ProjectServer} holds open. Reading asks the server again and again with short
 * times, because it answers only one request at a time and a waiting read would hold up a write.
 */
public final class ProjectTransport implements Transport {
    private static final Duration READ_TIME = Duration.ofMillis(50);
    private static final Duration WRITE_TIME = Duration.ofSeconds(10);
    private static final int MOST_READ = 4096;
    private static final int MOST_WRITTEN = 4096;

    private final ProjectServer server;
    private final String name;
    private final AtomicBoolean held = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicReference<Optional<KilnException>> broken = new AtomicReference<>(Optional.empty());
    private final InputStream input = new Input();
    private final OutputStream output = new Output();

    /**
     * @param name the server's place, for messages
     */
    ProjectTransport(ProjectServer server, String name) {
        this.server = server;
        this.name = name;
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
        return held;
    }

    /** False: the board's program may run already. */
    @Override
    public boolean ownsProgram() {
        return false;
    }

    /** The server's failure, if that was the reason; otherwise the same with the server's name. */
    @Override
    public KilnException explained(KilnException failure) {
        return broken.get()
                .orElseGet(() -> new KilnException(
                        Failure.API.problem(
                                "the session over the server's connection failed: " + failure.getMessage(), name),
                        failure));
    }

    /** Closes the connection, unless the server has ended. */
    @Override
    public void close() {
        if (!closed.getAndSet(true) && broken.get().isEmpty()) {
            server.closeTransport();
        }
    }

    private IOException failed(KilnException failure) {
        broken.compareAndSet(Optional.empty(), Optional.of(failure));
        return new IOException(failure.getMessage(), failure);
    }

    private final class Input extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] block, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            while (!closed.get()) {
                try {
                    byte[] bytes = server.read(Math.min(length, MOST_READ), READ_TIME);
                    System.arraycopy(bytes, 0, block, offset, bytes.length);
                    return bytes.length;
                } catch (KilnException e) {
                    if (!closed.get() && !(e instanceof MethodFailure failure && failure.isIoTimeout())) {
                        throw failed(e);
                    }
                }
            }
            return -1;
        }
    }

    private final class Output extends OutputStream {
        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] block, int offset, int length) throws IOException {
            for (int at = 0; at < length; at += MOST_WRITTEN) {
                if (closed.get()) {
                    throw new IOException("the connection is closed");
                }
                int end = Math.min(length, at + MOST_WRITTEN);
                try {
                    server.write(Arrays.copyOfRange(block, offset + at, offset + end), WRITE_TIME);
                } catch (KilnException e) {
                    throw failed(e);
                }
            }
        }
    }
}
