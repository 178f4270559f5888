// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.JvmEnd;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.Probe;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Flashes several devices at once; a failure of one does not stop the others. */
final class ParallelFlash {
    private static final int MOST_AT_ONCE = 16;

    private ParallelFlash() {}

    /**
     * The results, in the order of the probes.
     *
     * @param interrupted what to say if the build is stopped meanwhile
     */
    static List<FlashResult> run(
            List<Probe> probes, Log log, FlashFailure interrupted, Function<Probe, FlashResult> flash) {
        Thread farewell = new Thread(() -> log.warn(interrupted.text()), "flash-interrupted");
        Runtime.getRuntime().addShutdownHook(farewell);
        try {
            return probes.size() == 1 ? List.of(flash.apply(probes.get(0))) : together(probes, interrupted, flash);
        } finally {
            JvmEnd.remove(farewell);
        }
    }

    private static List<FlashResult> together(
            List<Probe> probes, FlashFailure interrupted, Function<Probe, FlashResult> flash) {
        ExecutorService pool = Executors.newFixedThreadPool(Math.min(MOST_AT_ONCE, probes.size()));
        try {
            List<Future<FlashResult>> running = new ArrayList<>();
            probes.forEach(probe -> running.add(pool.submit(() -> flash.apply(probe))));
            List<FlashResult> results = new ArrayList<>();
            for (Future<FlashResult> each : running) {
                results.add(each.get());
            }
            return results;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KilnException(interrupted.problem("kiln:flash"), e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KilnException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }
}
