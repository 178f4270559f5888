// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.tune;

import io.kiln.base.KilnException;
import io.kiln.tuning.task.Objective.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Measures candidates in one image, or on a farm in several at once. */
final class ImagesAtOnce {
    private final List<CandidateMeasurer> measurers;

    /** @param measurers one for each image at once, at least one, all alike */
    ImagesAtOnce(List<CandidateMeasurer> measurers) {
        this.measurers = List.copyOf(measurers);
    }

    /** The measured quantities. */
    Set<Metric> metrics() {
        return measurers.get(0).metrics();
    }

    /** The measurements, one for each candidate in order. Equal shares of the candidates make equal images in equal searches. */
    List<Measured> measure(List<Candidate> candidates) {
        if (measurers.size() == 1) {
            return measurers.get(0).measure(candidates);
        }
        ExecutorService pool = Executors.newFixedThreadPool(measurers.size());
        try {
            List<Future<List<Measured>>> shares = new ArrayList<>();
            for (int i = 0; i < measurers.size(); i++) {
                CandidateMeasurer measurer = measurers.get(i);
                List<Candidate> share = candidates.subList(start(candidates, i), start(candidates, i + 1));
                shares.add(pool.submit(() -> measurer.measure(share)));
            }
            List<Measured> all = new ArrayList<>();
            for (Future<List<Measured>> share : shares) {
                all.addAll(share.get());
            }
            return all;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a farm measured", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KilnException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    private int start(List<Candidate> candidates, int share) {
        return candidates.size() * share / measurers.size();
    }
}
