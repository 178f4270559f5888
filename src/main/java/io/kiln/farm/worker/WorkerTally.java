// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The state that a worker's threads share: how much is done, and whether to stop. */
final class WorkerTally {
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final CountDownLatch stop = new CountDownLatch(1);
    private volatile boolean isCut;

    void count(boolean isFailed) {
        if (isFailed) {
            failed.incrementAndGet();
        }
        done.incrementAndGet();
    }

    long done() {
        return done.get();
    }

    long failed() {
        return failed.get();
    }

    void stop() {
        stop.countDown();
    }

    /** Says that jobs that run are ended, and fail for that reason alone. */
    void cut() {
        isCut = true;
    }

    boolean isCut() {
        return isCut;
    }

    boolean isStopped() {
        return stop.getCount() == 0;
    }

    /** Waits, but no longer than until the worker stops. */
    void pause(Duration time) {
        try {
            if (stop.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            stop();
            Thread.currentThread().interrupt();
        }
    }
}
