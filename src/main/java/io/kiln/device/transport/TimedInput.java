// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A stream with time limits: a daemon thread reads it ahead. */
final class TimedInput {
    /** What {@link #read} returns when no byte came in time. */
    static final int LATE = -2;

    /** What {@link #read} returns when no byte will come any more. */
    static final int END = -1;

    private static final byte[] NO_MORE = new byte[0];

    private final LinkedBlockingQueue<byte[]> blocks = new LinkedBlockingQueue<>();
    private byte[] current = NO_MORE;
    private int next;
    private boolean ended;

    TimedInput(InputStream source) {
        Thread thread = new Thread(() -> pump(source), "console-reader");
        thread.setDaemon(true);
        thread.start();
    }

    private void pump(InputStream source) {
        byte[] block = new byte[4096];
        try {
            for (int n = source.read(block); n >= 0; n = source.read(block)) {
                if (n > 0) {
                    blocks.add(Arrays.copyOf(block, n));
                }
            }
        } catch (IOException e) {
            // Closed under the reader's hands: an end like any other.
            blocks.add(NO_MORE);
            return;
        }
        blocks.add(NO_MORE);
    }

    /**
     * The next byte, {@link #LATE} or {@link #END}.
     *
     * @param deadline value of {@link System#nanoTime()} after which not to wait
     */
    int read(long deadline) {
        if (next == current.length && !fetch(deadline)) {
            return ended ? END : LATE;
        }
        return current[next++] & 0xFF;
    }

    private boolean fetch(long deadline) {
        if (ended) {
            return false;
        }
        try {
            byte[] block = blocks.poll(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
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
