// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Does the same for several items at once. */
public final class Parallel {
    private Parallel() {}

    /**
     * Waits for the results of all items. No thread is left: if one item fails, or this thread is interrupted, the others are interrupted.
     *
     * @param threads the most items at once
     * @param interrupted what is thrown if this thread is interrupted
     * @return the results in the order of the items
     * @throws RuntimeException that of the first item, in their order, that failed
     */
    public static <T, R> List<R> map(List<T> items, int threads, Problem interrupted, Function<T, R> work) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<R>> running = new ArrayList<>();
            items.forEach(item -> running.add(pool.submit(() -> work.apply(item))));
            List<R> results = new ArrayList<>();
            for (Future<R> each : running) {
                results.add(each.get());
            }
            return results;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KilnException(interrupted, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }
}
