// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Drains a stream in a thread of its own: the first bytes into memory, all of them into the log. */
final class Capture {
    private final int limit;
    private final OutputStream log;
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final Thread thread;

    private Capture(String name, InputStream source, int limit, OutputStream log) {
        this.limit = limit;
        this.log = log;
        this.thread = new Thread(() -> drain(source), name);
        thread.setDaemon(true);
    }

    /** Starts draining at once. The log must tolerate several writers. */
    static Capture of(String name, InputStream source, int limit, OutputStream log) {
        Capture capture = new Capture(name, source, limit, log);
        capture.thread.start();
        return capture;
    }

    private void drain(InputStream source) {
        byte[] block = new byte[8192];
        try (source) {
            for (int n = source.read(block); n >= 0; n = source.read(block)) {
                keep(block, n);
                log.write(block, 0, n);
                log.flush();
            }
        } catch (IOException e) {
            // The process was killed or its stream closed: what was read so far is all there is.
            return;
        }
    }

    private synchronized void keep(byte[] block, int n) {
        kept.write(block, 0, Math.min(n, limit - kept.size()));
    }

    /** Waits for the end of the stream, at most so long. */
    void await(long millis) throws InterruptedException {
        thread.join(millis);
    }

    /** What was kept up to now. */
    synchronized String text() {
        return kept.toString(StandardCharsets.UTF_8);
    }
}
