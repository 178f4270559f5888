// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** A stream with time limits: a daemon thread reads it ahead, by at most {@link #MOST_BLOCKS} blocks. */
public final class TimedInput implements TimedBytes {
    private static final int MOST_BLOCKS = 64;
    private static final int BLOCK_BYTES = 4096;
    private static final byte[] NO_MORE = new byte[0];

    private final BlockingQueue<byte[]> blocks = new ArrayBlockingQueue<>(MOST_BLOCKS);
    private final Thread thread;
    private byte[] current = NO_MORE;
    private int next;
    private boolean ended;
    private int late;

    /**
     * @param source read by a separate thread until {@link #close}
     */
    public TimedInput(InputStream source) {
        thread = new Thread(() -> pump(source), "console-reader");
        thread.setDaemon(true);
        thread.start();
    }

    private void pump(InputStream source) {
        try {
            pumpUntilEnd(source);
            blocks.put(NO_MORE);
        } catch (InterruptedException e) {
            // Closed: wakes up a waiting reader.
            blocks.clear();
            blocks.offer(NO_MORE);
            Thread.currentThread().interrupt();
        }
    }

    private void pumpUntilEnd(InputStream source) throws InterruptedException {
        byte[] block = new byte[BLOCK_BYTES];
        try {
            for (int n = source.read(block); n >= 0; n = source.read(block)) {
                if (n > 0) {
                    blocks.put(Arrays.copyOf(block, n));
                }
            }
        } catch (IOException e) {
            // Closed while reading: an ordinary end.
            return;
        }
    }

    /** Stops reading ahead, once the stream delivers something or ends. */
    @Override
    public void close() {
        thread.interrupt();
        blocks.clear();
        blocks.offer(NO_MORE);
    }

    @Override
    public int read(long deadline) {
        if (next == current.length && !fetch(deadline)) {
            return ended ? END : LATE;
        }
        return current[next++] & 0xFF;
    }

    /** Whether the stream has ended and nothing read ahead is left. */
    public boolean isAtEnd() {
        byte[] first = blocks.peek();
        return next == current.length && (ended || (first != null && first.length == 0));
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    private boolean fetch(long deadline) {
        if (ended) {
            return false;
        }
        long time = deadline - System.nanoTime();
        // Bytes read ahead may have arrived in time; their number is limited by the queue.
        late = time > 0 ? 0 : late + 1;
        if (late > MOST_BLOCKS) {
            return false;
        }
        try {
            byte[] block = blocks.poll(Math.max(0, time), TimeUnit.NANOSECONDS);
            if (block == null) {
                return false;
            }
            current = block;
            next = 0;
            ended = block.length == 0;
            return !ended;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
