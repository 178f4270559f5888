// SPDX-License-Identifier: Apache-2.0
package io.kiln.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Consumer;

/** Drains a stream in a separate thread: the first bytes into memory, all bytes into the log; all count for the budget. */
final class Capture {
    /** Most bytes of a line that is passed on; the rest of a longer one is not. */
    private static final int LONGEST_LINE = 64 << 10;

    private final OutputStream log;
    private final Budget budget;
    private final Optional<Consumer<String>> lines;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final Thread thread;

    private Capture(
            String name, InputStream source, OutputStream log, Budget budget, Optional<Consumer<String>> lines) {
        this.log = log;
        this.budget = budget;
        this.lines = lines;
        this.thread = new Thread(() -> drain(source), name);
        thread.setDaemon(true);
    }

    /** Starts draining at once. The log must tolerate several writers. */
    static Capture of(String name, InputStream source, OutputStream log, Budget budget) {
        return started(new Capture(name, source, log, budget, Optional.empty()));
    }

    /** Starts draining, and passes each line on without its line end as soon as it is complete. The log must tolerate several writers. */
    static Capture of(String name, InputStream source, OutputStream log, Budget budget, Consumer<String> lines) {
        return started(new Capture(name, source, log, budget, Optional.of(lines)));
    }

    private static Capture started(Capture capture) {
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
                if (lines.isPresent()) {
                    passOn(block, n, lines.get());
                }
                budget.spend(n);
            }
        } catch (IOException e) {
            // The process was killed or its stream closed: the rest is lost.
            return;
        }
    }

    private void passOn(byte[] block, int n, Consumer<String> listener) {
        for (int i = 0; i < n; i++) {
            if (block[i] == '\n') {
                listener.accept(line.toString(StandardCharsets.UTF_8));
                line.reset();
            } else if (line.size() < LONGEST_LINE) {
                line.write(block[i]);
            }
        }
    }

    private synchronized void keep(byte[] block, int n) {
        kept.write(block, 0, Math.min(n, ProcessRunner.CAPTURE_LIMIT - kept.size()));
    }

    /** Waits for the end of the stream, with a time limit. */
    void await(long millis) throws InterruptedException {
        thread.join(millis);
    }

    /** The text kept so far. */
    synchronized String text() {
        return kept.toString(StandardCharsets.UTF_8);
    }
}
