// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmJob;

/** Runs jobs on what a worker offers. Thread-safe. */
@FunctionalInterface
public interface JobRunner {
    /**
     * The outcome of a job.
     *
     * @param ranOn what ran the image, as reports name it
     * @param answer the answer
     */
    record Done(String ranOn, FarmAnswer answer) {}

    /**
     * Runs a job.
     *
     * @param offer what runs it, which nobody else uses meanwhile if it is a board
     * @throws io.kiln.base.KilnException if it fails, with the reason
     */
    Done run(FarmJob job, Offer offer);
}
