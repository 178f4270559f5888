// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.projectapi.MethodFailure;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * An open connection that is read and written with time limits. Two threads of its own wait for the line: one reads
 * ahead, one writes what was taken, both by a limited number of bytes.
 */
final class HeldTransport implements AutoCloseable {
    private static final int BLOCK_BYTES = 4096;
    private static final int MOST_BLOCKS = 16;
    private static final long TO_DRAIN_MILLIS = 1000;
    private static final byte[] NO_MORE = new byte[0];

    /** Shortest wait for bytes, so that those which are there are found even if nobody waits. */
    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Transport transport;
    private final Runnable release;
    private final TimedInput input;
    private final BlockingQueue<byte[]> taken = new ArrayBlockingQueue<>(MOST_BLOCKS);
    private final Thread writer = new Thread(this::write, "transport-writer");
    private volatile boolean broken;

    /**
     * @param transport closed with this
     * @param release what to do after that
     */
    HeldTransport(Transport transport, Runnable release) {
        this.transport = transport;
        this.release = release;
        this.input = new TimedInput(transport.input());
        writer.setDaemon(true);
        writer.start();
    }

    private void write() {
        try {
            for (byte[] block = taken.take(); block.length > 0; block = taken.take()) {
                transport.output().write(block);
                transport.output().flush();
            }
        } catch (IOException e) {
            // The program ended, or the cable is gone: the next call tells.
            broken = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Waits for bytes.
     *
     * @return at most {@code most}; empty if none came in time
     * @throws MethodFailure if the program ended
     */
    byte[] read(int most, Duration time) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int value = input.read(input.now() + Math.max(time.toNanos(), LEAST_NANOS));
        long soon = input.now() + LEAST_NANOS;
        while (value >= 0) {
            bytes.write(value);
            value = bytes.size() < most ? input.read(soon) : TimedBytes.LATE;
        }
        if (value == TimedBytes.END && bytes.size() == 0) {
            throw closed();
        }
        return bytes.toByteArray();
    }

    /**
     * Takes bytes to send.
     *
     * @return how many were taken in time
     * @throws MethodFailure if the program ended
     */
    int write(byte[] bytes, int from, Duration time) {
        int at = from;
        long deadline = System.nanoTime() + Math.max(time.toNanos(), LEAST_NANOS);
        while (at < bytes.length) {
            if (broken) {
                throw closed();
            }
            int end = Math.min(bytes.length, at + BLOCK_BYTES);
            if (!offer(Arrays.copyOfRange(bytes, at, end), deadline - System.nanoTime())) {
                break;
            }
            at = end;
        }
        return at - from;
    }

    private boolean offer(byte[] block, long nanos) {
        try {
            return taken.offer(block, Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private MethodFailure closed() {
        return MethodFailure.transportClosed(transport
                .explained(new KilnException(Failure.API.problem("the board's program ended", "console")))
                .getMessage());
    }

    /** Sends what was taken, as far as the line takes it soon, and disconnects. */
    @Override
    public void close() {
        try {
            if (offer(NO_MORE, TimeUnit.MILLISECONDS.toNanos(TO_DRAIN_MILLIS))) {
                writer.join(TO_DRAIN_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            writer.interrupt();
            input.close();
            transport.close();
            release.run();
        }
    }
}
