// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Log;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/** Says every few seconds how far a verification is: over a slow line it takes minutes. */
final class VerifyProgress implements AutoCloseable {
    /** Time between two lines. */
    static final Duration USUAL = Duration.ofSeconds(5);

    private final ScheduledThreadPoolExecutor ticks = new ScheduledThreadPoolExecutor(1, work -> {
        Thread thread = new Thread(work, "verify-progress");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * Begins.
     *
     * @param all number of cases
     * @param done how many of them have their answers
     * @param bytes on the line so far, both ways
     */
    VerifyProgress(Log log, Duration every, int all, IntSupplier done, LongSupplier bytes) {
        ScheduledFuture<?> unused = ticks.scheduleAtFixedRate(
                () -> log.info(String.format(
                        Locale.ROOT,
                        "%d of %d cases have their answers, %,d bytes went over the line",
                        done.getAsInt(),
                        all,
                        bytes.getAsLong())),
                every.toMillis(),
                every.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        ticks.shutdownNow();
    }
}
